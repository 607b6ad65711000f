<?php
function flagged($pdo, $mysqli, $name, $conn, $wpdb) {
    $pdo->query("SELECT * FROM users WHERE name = '$name'"); // BAD
    $pdo->query("SELECT * FROM users WHERE name = '{$_GET['name']}'"); // BAD
    $pdo->query('SELECT * FROM users WHERE name = \'' . $name . '\''); // BAD
    $sql = "DELETE FROM users WHERE id = " . $_POST['id'];
    mysqli_query($conn, $sql); // BAD
    $q = "SELECT * FROM users";
    $q .= " WHERE name = '" . $name . "'";
    $mysqli->query($q); // BAD
    $pdo->exec(sprintf("DELETE FROM users WHERE name = '%s'", $name)); // BAD
    DB::select("SELECT * FROM users WHERE name = '" . $name . "'"); // BAD
    $users->whereRaw("name = '$name'"); // BAD
    $wpdb->get_results("SELECT * FROM {$wpdb->users} WHERE name = '$name'"); // BAD
}

function clean($pdo, $mysqli, $name, $ids, $n, $wpdb) {
    $stmt = $pdo->prepare("SELECT * FROM users WHERE name = ?");
    $stmt->execute([$name]);
    $stmt = $pdo->prepare("SELECT * FROM users WHERE name = :name");
    $stmt->execute(['name' => $name]);
    $marks = implode(',', array_fill(0, count($ids), '?'));
    $pdo->prepare("SELECT * FROM users WHERE id IN ($marks)");
    $pdo->query("SELECT * FROM users LIMIT " . intval($n));
    $pdo->query("SELECT * FROM users LIMIT " . (int) $n);
    $wpdb->get_results($wpdb->prepare("SELECT * FROM {$wpdb->users} WHERE name = %s", $name));
    $mysqli->query("SELECT * FROM users WHERE name = '" . $mysqli->real_escape_string($name) . "'");
    echo "SELECT * FROM users WHERE name = '$name'";
    $runner->execute("update of $name");
    DB::select("SELECT * FROM users WHERE name = ?", [$name]);
}
