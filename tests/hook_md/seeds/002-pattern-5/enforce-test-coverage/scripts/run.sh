#!/bin/bash
# enforce-quality.sh

# ä» stdin è¯»å–äº‹ä»¶æ•°æ®
event_data=$(cat)

# æ£€æŸ¥æµ‹è¯•æ˜¯å¦é€šè¿‡
if ! npm test 2>&1; then
    echo "æµ‹è¯•é€šè¿‡å‰ä¸èƒ½å®Œæˆä»»åŠ¡" >&2
    exit 2
fi

# æ£€æŸ¥ä»£ç æ ¼å¼
if ! black --check . 2>&1; then
    echo "ä»£ç æœªæ ¼å¼åŒ–ã€‚å…ˆè¿è¡Œ 'black .'" >&2
    exit 2
fi

# æ‰€æœ‰æ£€æŸ¥é€šè¿‡
exit 0
