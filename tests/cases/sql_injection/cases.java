class Users {
    private static final String TABLE = "users";

    void flagged(Connection c, Statement st, String name, JdbcTemplate jdbc, EntityManager em) throws Exception {
        st.executeQuery("SELECT * FROM users WHERE name = '" + name + "'"); // BAD
        String sql = "DELETE FROM users WHERE name = '" + name + "'";
        st.executeUpdate(sql); // BAD
        c.prepareStatement(String.format("SELECT * FROM users WHERE name = '%s'", name)); // BAD
        StringBuilder sb = new StringBuilder("SELECT * FROM users WHERE name = '");
        sb.append(name).append("'");
        st.executeQuery(sb.toString()); // BAD
        jdbc.queryForObject("SELECT count(*) FROM users WHERE name = '" + name + "'", Integer.class); // BAD
        em.createNativeQuery("UPDATE users SET x = 1 WHERE name = '%s'".formatted(name)); // BAD
        String q = "SELECT * FROM users";
        q += " WHERE name = '" + name + "'";
        st.execute(q); // BAD
        st.addBatch("INSERT INTO users (name) VALUES ('".concat(name) + "')"); // BAD
    }

    void clean(Connection c, Statement st, String name, int n, JdbcTemplate jdbc) throws Exception {
        PreparedStatement ps = c.prepareStatement("SELECT * FROM users WHERE name = ?");
        ps.setString(1, name);
        ps.executeQuery();
        st.executeQuery("SELECT * FROM " + TABLE + " ORDER BY name");
        jdbc.update("UPDATE users SET name = ? WHERE id = ?", name, n);
        String sql = "SELECT * FROM users " + "WHERE name = ?";
        c.prepareStatement(sql);
        StringBuilder sb = new StringBuilder("SELECT * FROM users");
        sb.append(" WHERE name = ?");
        c.prepareStatement(sb.toString());
        log.info("SELECT * FROM users WHERE name = '" + name + "'");
        executor.execute("run " + name);
        String marks = String.join(",", Collections.nCopies(n, "?"));
        c.prepareStatement("SELECT * FROM users WHERE id IN (" + marks + ")");
    }
}
