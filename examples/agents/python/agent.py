"""An agent in Python, with nothing but the standard library: a model chooses the tools, Assay answers them.

The protocol is one JSON object a line on standard input and output (docs/agents.md); logs go to standard error.
"""

import json
import sys
import urllib.request


def say(message):
    print(json.dumps(message), flush=True)


def hear():
    return json.loads(sys.stdin.readline())


def complete(model, name, messages, tools):
    """One call of an OpenAI-compatible endpoint."""
    body = {"model": name, "messages": messages, "tools": tools}
    request = urllib.request.Request(
        model["base_url"].rstrip("/") + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={
            "content-type": "application/json",
            "authorization": "Bearer " + (model["api_key"] or "none"),
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def tool_text(result):
    """What the model is told of a call."""
    if "error" in result:
        return json.dumps({"error": result["error"]})
    value = result["result"]
    return value if isinstance(value, str) else json.dumps(value)


def main():
    start = hear()
    messages = start["messages"]
    tools = [{"type": "function", "function": tool} for tool in start["tools"]]
    used = {"input": 0, "output": 0}
    while True:
        reply = complete(start["model"], start["options"]["model"], messages, tools)
        used["input"] += reply["usage"]["prompt_tokens"]
        used["output"] += reply["usage"]["completion_tokens"]
        message = reply["choices"][0]["message"]
        calls = message.get("tool_calls") or []
        if not calls:
            say({"type": "result", "answer": message["content"], "usage": used, "model": reply.get("model")})
            return
        messages.append(message)
        # The calls of one reply are one turn: they have no order among themselves.
        say({"type": "tool_calls", "calls": calls})
        for call, result in zip(calls, hear()["results"]):
            print("called", call["function"]["name"], file=sys.stderr)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": tool_text(result)})


main()
