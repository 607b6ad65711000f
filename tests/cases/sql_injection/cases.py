import sqlite3
from sqlalchemy import text

TABLE = "users"


def flagged(cursor, conn, session, name, ids, request):
    cursor.execute("SELECT * FROM users WHERE name = '" + name + "'")  # BAD
    cursor.execute(f"SELECT * FROM users WHERE name = '{name}'")  # BAD
    cursor.execute("SELECT * FROM users WHERE name = '%s'" % name)  # BAD
    cursor.execute("SELECT * FROM users WHERE name = '{}'".format(name))  # BAD
    conn.executescript("DELETE FROM users WHERE id = " + request.args["id"])  # BAD
    query = "UPDATE users SET name = '" + name + "'"
    query += " WHERE id = 1"
    cursor.execute(query)  # BAD
    sql = "SELECT id FROM users"
    if name:
        sql += " WHERE name = '%s'" % name
    cursor.execute(sql)  # BAD
    session.execute(text(f"DELETE FROM users WHERE name = '{name}'"))  # BAD
    where = []
    where.append(f"name = '{name}'")
    cursor.execute("SELECT * FROM users WHERE " + " AND ".join(where))  # BAD
    conn.execute(
        f"""
        SELECT *
        FROM users
        WHERE name = '{name}'
        """
    )  # BAD-6


def clean(cursor, conn, session, name, ids, n):
    cursor.execute("SELECT * FROM users WHERE name = %s", (name,))
    cursor.execute("SELECT * FROM users WHERE name = ?", [name])
    cursor.execute("SELECT * FROM users WHERE name LIKE ?", ("%" + name + "%",))
    cursor.execute("SELECT * FROM " + TABLE + " WHERE id = ?", (n,))
    cursor.execute(f"SELECT * FROM {TABLE} WHERE id = ?", (n,))
    placeholders = ", ".join("?" for _ in ids)
    cursor.execute(f"SELECT * FROM users WHERE id IN ({placeholders})", ids)
    marks = ",".join(["%s"] * len(ids))
    cursor.execute("SELECT * FROM users WHERE id IN (" + marks + ")", ids)
    cursor.execute("SELECT * FROM users LIMIT " + str(int(n)))
    cursor.execute("SELECT * FROM users LIMIT %d" % n)
    sql = "SELECT * FROM users"
    sql += " ORDER BY name"
    cursor.execute(sql)
    order = "ASC" if n else "DESC"
    cursor.execute(f"SELECT * FROM users ORDER BY name {order}")
    where = ["a = ?"]
    where.append("b = ?")
    cursor.execute("SELECT * FROM users WHERE " + " AND ".join(where), ids)
    session.execute(text("SELECT * FROM users WHERE id = :id"), {"id": n})
    print(f"SELECT * FROM users WHERE name = '{name}'")
    exec(f"print({name})")
    pattern.execute("hello " + name)
    log.info("update user " + name)
