echo '{"decision": "allow", "log": "Command validated"}'
exit 0
