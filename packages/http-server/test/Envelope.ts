/** Checks that every error response passes. */
import { assert } from "@effect/vitest"
import { type AnyErrorCode, definitions } from "@kinora/http-api/ErrorCode"
import { Schema } from "effect"
import type { Answer } from "./Host.ts"

const Envelope = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    plan: Schema.NullOr(Schema.Literals(["studio", "credits"])),
    details: Schema.Record(Schema.String, Schema.Json)
  })
})

const decode = Schema.decodeUnknownSync(Envelope, { onExcessProperty: "error" })

/** Returns the error of a response after checking its envelope, code, status and request id. */
export const errorOf = (answer: Answer, code: AnyErrorCode) => {
  assert.strictEqual(answer.headers["content-type"], "application/json", answer.text)
  const { error } = decode(answer.json)
  assert.strictEqual(error.code, code, answer.text)
  assert.strictEqual(answer.status, definitions[code].status)
  assert.match(error.message, /\.$/)
  assert.match(answer.headers["x-request-id"] ?? "", /^[\x20-\x7e]+$/)
  return error
}

/** The three headers of a limit as numbers. */
export const limitOf = ({ headers }: Answer) => ({
  limit: Number(headers["x-ratelimit-limit"]),
  remaining: Number(headers["x-ratelimit-remaining"]),
  reset: Number(headers["x-ratelimit-reset"])
})
