#!/bin/bash
# 在允许 Agent 完成前运行测试
if ! npm test 2>&1; then
    echo "测试通过前不能完成任务" >&2
    exit 2
fi
exit 0
