#!/usr/bin/env python3
import json
import sys

def main():
    event = json.load(sys.stdin)
    tool_name = event.get("tool_name", "")
    tool_input = event.get("tool_input", {})

    if tool_name == "Shell":
        command = tool_input.get("command", "")

        dangerous = ["rm -rf /", "mkfs", "dd if=/dev/zero"]
        for pattern in dangerous:
            if pattern in command:
                print(f"Dangerous command detected: {pattern}", file=sys.stderr)
                sys.exit(2)

    print(json.dumps({"decision": "allow"}))
    sys.exit(0)

if __name__ == "__main__":
    main()
