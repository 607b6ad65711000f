#!/bin/bash
if [ "危险条件" ]; then
    echo "阻断原因" >&2
    exit 2
fi
echo '{"decision": "allow"}'
exit 0
