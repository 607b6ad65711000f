const COLUMNS: &str = "id, name";

async fn flagged(conn: &Connection, pool: &Pool, name: &str, id: String) -> Result<()> {
    conn.execute(&format!("DELETE FROM users WHERE name = '{}'", name), [])?; // BAD
    conn.execute(&format!("DELETE FROM users WHERE name = '{name}'"), [])?; // BAD
    let sql = format!("SELECT * FROM users WHERE id = {}", id);
    sqlx::query(&sql).fetch_all(pool).await?; // BAD
    let mut query = String::from("SELECT * FROM users WHERE name = '");
    query.push_str(name);
    query.push_str("'");
    conn.prepare(&query)?; // BAD
    let joined = "SELECT * FROM users WHERE name = '".to_owned() + name + "'";
    client.query(joined.as_str(), &[]).await?; // BAD
    let mut built = String::new();
    write!(built, "SELECT * FROM users WHERE name = '{}'", name)?;
    client.batch_execute(&built).await?; // BAD
    diesel::sql_query(format!("SELECT * FROM users WHERE id = {id}")).load(conn)?; // BAD
    Ok(())
}

async fn clean(conn: &Connection, pool: &Pool, name: &str, ids: &[u32]) -> Result<()> {
    conn.execute("DELETE FROM users WHERE name = ?1", [name])?;
    sqlx::query("SELECT * FROM users WHERE name = $1").bind(name).fetch_all(pool).await?;
    sqlx::query!("SELECT * FROM users WHERE name = $1", name).fetch_one(pool).await?;
    let sql = format!("SELECT {} FROM users WHERE name = ?", COLUMNS);
    conn.prepare(&sql)?;
    conn.prepare(&format!("SELECT {COLUMNS} FROM users WHERE name = ?"))?;
    let marks = vec!["?"; ids.len()].join(",");
    conn.prepare(&format!("SELECT * FROM users WHERE id IN ({marks})"))?;
    println!("SELECT * FROM users WHERE name = '{}'", name);
    let greeting = format!("update {} please", name);
    worker.execute(&greeting)?;
    Ok(())
}
