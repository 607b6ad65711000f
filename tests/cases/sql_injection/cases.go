package users

import (
	"database/sql"
	"fmt"
	"strings"
)

const table = "users"

func flagged(db *sql.DB, name string, ctx context.Context) {
	db.Query("SELECT * FROM users WHERE name = '" + name + "'") // BAD
	db.QueryRow(fmt.Sprintf("SELECT * FROM users WHERE name = '%s'", name)) // BAD
	query := fmt.Sprintf("DELETE FROM users WHERE id = %v", name)
	db.ExecContext(ctx, query) // BAD
	var b strings.Builder
	b.WriteString("SELECT * FROM users WHERE name = '")
	b.WriteString(name)
	b.WriteString("'")
	db.Query(b.String()) // BAD
	q := "SELECT * FROM users"
	q += " WHERE name = '" + name + "'"
	rows, err := db.Query(q) // BAD
	gorm.Raw("SELECT * FROM users WHERE name = '" + name + "'").Scan(&u) // BAD
}

func clean(db *sql.DB, name string, ids []int, n int) {
	db.Query("SELECT * FROM users WHERE name = ?", name)
	db.QueryRow("SELECT * FROM users WHERE name = $1", name)
	db.Query("SELECT * FROM " + table + " WHERE id = ?", n)
	db.Query(fmt.Sprintf("SELECT * FROM users LIMIT %d", n))
	marks := strings.Repeat("?,", len(ids))
	db.Query("SELECT * FROM users WHERE id IN ("+strings.TrimSuffix(marks, ",")+")", ids)
	db.Query("SELECT * FROM users LIMIT " + strconv.Itoa(n))
	fmt.Println("SELECT * FROM users WHERE name = '" + name + "'")
	exec.Command("select", name)
	http.Get("https://example.org/" + name)
}
