# é€šè¿‡ stdout JSON è¿”å›å†³ç–
echo '{"decision": "allow", "log": "Command validated"}'
exit 0
