/** URLs of requests, and errors in words. */
import { assert, describe, it } from "@effect/vitest"
import { ResponseError } from "@kinora/client"
import { CallError, isSessionEnded, problemOf } from "../src/api/problem.ts"
import { urlOf } from "../src/api/route.ts"

describe("route", () => {
  it("puts parameters into the path and the query", () => {
    assert.deepStrictEqual(
      urlOf("GET /admin/v1/accounts/:id/keys/:key_id", { id: "acct_1", key_id: "key_2" }, {
        limit: 50,
        cursor: undefined
      }),
      { method: "GET", url: "/admin/v1/accounts/acct_1/keys/key_2?limit=50" }
    )
  })

  it("encodes what would leave the path", () => {
    assert.strictEqual(urlOf("GET /v1/models/:id", { id: "../account?x#y" }).url, "/v1/models/..%2Faccount%3Fx%23y")
    assert.strictEqual(urlOf("GET /v1/generations", {}, { q: "a&b=c" }).url, "/v1/generations?q=a%26b%3Dc")
  })

  it("refuses an absent parameter, because the path would name another resource", () => {
    assert.throws(() => urlOf("DELETE /console/v1/sessions/:id", { id: "" }), TypeError)
    assert.throws(() => urlOf("DELETE /console/v1/sessions/:id"), TypeError)
  })
})

describe("problem", () => {
  const refusal = { code: "invalid_params", status: 400, requestId: "req_1", retryAfterMillis: null } as const

  it("has the message of the service, the request id and the invalid fields", () => {
    const issues = [{ path: "params.prompt", message: "is too long" }, "unexpected"]
    const problem = problemOf(new CallError("The prompt is too long.", { ...refusal, details: { issues } }))
    assert.strictEqual(problem.title, "Check the highlighted fields")
    assert.strictEqual(problem.detail, "The prompt is too long.")
    assert.strictEqual(problem.requestId, "req_1")
    assert.deepStrictEqual([...problem.issues], [["prompt", "is too long"]])
  })

  it("omits the status and the code of errors of the client, which its title replaces", () => {
    const error = new ResponseError(
      "20 jobs are waiting.",
      { ...refusal, code: "queue_full", status: 429, plan: null, details: {}, isRetryable: true },
      { generationId: null, attempts: 1 }
    )
    assert.strictEqual(problemOf(error).detail, "20 jobs are waiting.")
    assert.strictEqual(problemOf(error).title, "The queue is full")
  })

  it("explains that no response arrived", () => {
    assert.strictEqual(problemOf(new TypeError("Failed to fetch")).title, "The service did not respond")
    assert.isNull(problemOf(new TypeError("Failed to fetch")).code)
  })

  it("ends the session on 401 alone", () => {
    assert.isTrue(isSessionEnded(new CallError("", { ...refusal, status: 401, details: {} })))
    assert.isFalse(isSessionEnded(new CallError("", { ...refusal, status: 403, details: {} })))
    assert.isFalse(isSessionEnded(new TypeError("Failed to fetch")))
  })
})
