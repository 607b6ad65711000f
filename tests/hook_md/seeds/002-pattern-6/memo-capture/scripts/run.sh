#!/bin/bash
# Memo Capture Reminder Hook
# Trigger: pre-agent-turn-stop

PROJECT_ROOT="${MONOCO_PROJECT_ROOT:-$(pwd)}"
MONOCO_DIR="$PROJECT_ROOT/.monoco"
MEMO_PATH="$MONOCO_DIR/MEMO.md"
SENTINEL_PATH="$MONOCO_DIR/.memo_reminded"

# Ensure .monoco directory exists
mkdir -p "$MONOCO_DIR"

# Check if already reminded in this turn
if [ -f "$SENTINEL_PATH" ]; then
    exit 0
fi

# Create sentinel file to mark reminder as shown
touch "$SENTINEL_PATH"

# Count existing memos
MEMO_COUNT=0
if [ -f "$MEMO_PATH" ]; then
    MEMO_COUNT=$(grep -cE '^##\s*' "$MEMO_PATH" 2>/dev/null || echo "0")
fi

cat << GUIDANCE

â•”â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•—
â•‘  ğŸ“ Memo Capture                                              â•‘
â•šâ•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•â•

æœ¬è½®å·¥ä½œå³å°†ç»“æŸï¼Œæ•è·ä»»ä½• fleeting thoughts:

  â€¢ é‡åˆ°çš„æŠ€æœ¯éšœç¢ï¼Ÿ
  â€¢ éœ€è¦åç»å®Œå–„çš„æƒ³æ³•ï¼Ÿ
  â€¢ å€¼å¾—ä¸ºä¸‹è½®ä¼šè¯ä¿ç•™çš„ä¸Šä¸‹æ–‡ï¼Ÿ
  â€¢ è·³è¿‡çš„ "åº”è¯¥è°ƒæŸ¥" æ—¶åˆ»ï¼Ÿ

å½“å‰å¾…å¤„ç† memos: $MEMO_COUNT

GUIDANCE

exit 0
