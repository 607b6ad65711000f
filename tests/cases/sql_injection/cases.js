async function flagged(db, pool, name, req, knex) {
  await db.query("SELECT * FROM users WHERE name = '" + name + "'"); // BAD
  await db.query(`SELECT * FROM users WHERE name = '${name}'`); // BAD
  const sql = `DELETE FROM users WHERE id = ${req.params.id}`;
  await pool.execute(sql); // BAD
  let q = "SELECT * FROM users";
  if (name) q += " WHERE name = '" + name + "'";
  pool.query(q, (err, rows) => {}); // BAD
  db.all("SELECT * FROM users WHERE name = '".concat(name, "'")); // BAD
  await prisma.$queryRawUnsafe(`SELECT * FROM users WHERE id = ${name}`); // BAD
  knex("users").whereRaw("name = '" + name + "'"); // BAD
  sequelize.query("SELECT * FROM users WHERE id = " + req.query.id, { type: "SELECT" }); // BAD
  const parts = [];
  parts.push(`name = '${name}'`);
  db.run("UPDATE users SET active = 1 WHERE " + parts.join(" AND ")); // BAD
}

async function clean(db, pool, name, ids, sql, n) {
  await db.query("SELECT * FROM users WHERE name = ?", [name]);
  await db.query("SELECT * FROM users WHERE name = $1", [name]);
  await db.query(sql`SELECT * FROM users WHERE name = ${name}`);
  await prisma.$queryRaw`SELECT * FROM users WHERE id = ${name}`;
  const marks = ids.map(() => "?").join(", ");
  await db.query(`SELECT * FROM users WHERE id IN (${marks})`, ids);
  const numbered = ids.map((_, i) => `$${i + 1}`).join(", ");
  await db.query("SELECT * FROM users WHERE id IN (" + numbered + ")", ids);
  await db.query("SELECT * FROM users LIMIT " + Number(n));
  const text = "SELECT * FROM users" + " ORDER BY name";
  await db.query(text);
  const direction = n ? "ASC" : "DESC";
  await db.query(`SELECT * FROM users ORDER BY name ${direction}`);
  /select (.*) from/.exec("select " + name + " from here");
  console.log(`SELECT * FROM users WHERE name = '${name}'`);
  document.querySelector("select[name='" + name + "']");
  fetch("/update/" + name);
  await db.query("SELECT * FROM users WHERE name = " + db.escape(name));
}
