/** Code of receivers that verify the signature of events. */

/** The languages and their code. */
export const receivers = [
  [
    "node",
    "Node",
    `import { Webhook } from "@kinora/webhook-signing"

/** A handler for standard requests: Next, SvelteKit, Remix, Deno, Bun, Workers. */
export const POST = async (request: Request): Promise<Response> => {
  try {
    const { event } = await Webhook.receive(request, { secret: process.env.KINORA_WEBHOOK_SECRET })
    // Store event.id with the event: an event can arrive more than once.
    console.log(event.type, event.data)
    return new Response(null, { status: 204 })
  } catch (error) {
    return new Response(null, { status: Webhook.statusOf(error) })
  }
}`
  ],
  [
    "python",
    "Python",
    `import hashlib
import hmac
import json
import re
import time


def verify(body: bytes, signature: str, secret: str) -> dict:
    items = [item.split("=", 1) for item in signature.split(",")]
    if any(len(item) != 2 for item in items):
        raise ValueError("malformed signature")
    stamps = [value for scheme, value in items if scheme == "t"]
    hexes = [value for scheme, value in items if scheme == "v1"]
    if len(stamps) != 1 or not re.fullmatch("[0-9]{1,15}", stamps[0]) or not hexes:
        raise ValueError("malformed signature")
    code = hmac.new(secret.encode(), stamps[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    if not any([hmac.compare_digest(code.encode(), candidate.encode()) for candidate in hexes]):
        raise ValueError("no signature matches")
    if time.time() - int(stamps[0]) > 300:
        raise ValueError("the signature is too old")
    return json.loads(body)`
  ],
  [
    "go",
    "Go",
    `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

func Verify(body []byte, signature, secret string) error {
	var stamps, hexes []string
	for _, item := range strings.Split(signature, ",") {
		scheme, value, found := strings.Cut(item, "=")
		switch {
		case !found:
			return errors.New("malformed signature")
		case scheme == "t":
			stamps = append(stamps, value)
		case scheme == "v1":
			hexes = append(hexes, value)
		}
	}
	if len(stamps) != 1 || len(hexes) == 0 {
		return errors.New("malformed signature")
	}
	seconds, err := strconv.ParseUint(stamps[0], 10, 48)
	if err != nil {
		return errors.New("malformed signature")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamps[0] + "."))
	mac.Write(body)
	code := []byte(hex.EncodeToString(mac.Sum(nil)))
	matches := false
	for _, candidate := range hexes {
		matches = hmac.Equal(code, []byte(candidate)) || matches
	}
	if !matches {
		return errors.New("no signature matches")
	}
	if time.Now().Unix()-int64(seconds) > 300 {
		return errors.New("the signature is too old")
	}
	return nil
}`
  ]
] as const
