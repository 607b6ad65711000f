export class Users {
  constructor(private readonly db: Pool) {}

  async flagged(name: string, id: unknown): Promise<User[]> {
    const sql: string = `SELECT * FROM users WHERE name = '${name}'`;
    await this.db.query<User>(sql); // BAD
    await this.db.query("DELETE FROM users WHERE id = " + (id as string)); // BAD
    return this.manager.createQueryBuilder().where("x = 1").query(`SELECT * FROM users WHERE id = ${id!}`); // BAD
  }

  async clean(name: string, ids: number[]): Promise<User[]> {
    const marks: string = ids.map(() => "?").join(",");
    await this.db.query(`SELECT * FROM users WHERE id IN (${marks})`, ids);
    const sql = "SELECT * FROM users WHERE name = $1" as const;
    return this.db.query<User>(sql, [name]);
  }
}
