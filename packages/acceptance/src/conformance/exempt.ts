/** Statements of the contract that no conformance case names: what they begin with, and why. */

const descriptive = "Introduces or explains other statements."
const codes = "The case of the code in `codes.ts` proves it."
const documented = "`openApi.test.ts` proves it."

/** By page and by the anchor of the section. */
export const exempt: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  "http-api": {
    "http-api": {
      "The contract of `/v1`": descriptive,
      "Start with the": descriptive
    },
    "overview": { "| ": documented },
    "conventions": { "- `HEAD` is accepted": documented },
    "identifiers": { "| `lot_`": "No response contains it." },
    "authentication": {
      "- The service stores only": "The tests of `packages/accounts` prove it.",
      "- A request without `Authorization`": "The tests of `packages/http-server` prove it.",
      "- If the account is suspended": codes
    },
    "errors": {
      "| `message`": descriptive,
      "- An unknown path": codes,
      "- 400 `invalid_request`": codes
    },
    "rate-limits": {
      "| failed authentications": "A case of the section on authentication proves it.",
      "| uploads": "The tests of `packages/http-server` prove it.",
      "| pixels of input images": "The tests of `packages/generations` and `packages/http-server` prove it."
    },
    "rate-limit-headers": {
      "- A server takes requests":
        "`sharedLimits.integration.test.ts` and the tests of `packages/rate-limit` prove it.",
      "- Where no request was counted": "The tests of `packages/rate-limit` prove it."
    },
    "idempotency": { "Creating requests": descriptive },
    "plans-and-credits": { "The plan group": descriptive },
    "budgets-of-api-keys": { "Operators can": descriptive },
    "credit-lots": { "Credits are kept": descriptive },
    "the-job-object": { "| `worker_lost`": "The tests of `packages/generations` prove it." },
    "create-a-job": { "`POST /v1/generations`": descriptive, "Header `Idempotency-Key`": descriptive },
    "order-of-checks": { "9. Moderation": "The tests of `packages/generations` and `packages/http-server` prove it." },
    "parameters": { "`params` of a create request": descriptive },
    "input-images": {
      "The body of a creating request has to arrive": "The tests of `packages/http-server` prove it.",
      "- The service decodes": "The tests of `packages/media` prove it.",
      "- The pixels of all images": "The tests of `packages/generations` prove it.",
      "- An image that was sent": "The tests of `packages/generations` prove it."
    },
    "uploads": {
      "201:": descriptive,
      "- The rules": "The tests of `packages/http-server` prove it.",
      "- An account can have": "The tests of `packages/http-server` prove it.",
      "- A server that is decoding": "The tests of `packages/http-server` prove it."
    },
    "job-states": {
      "| `queued` | `pending`": "The tests of `packages/generations` prove it.",
      "| `pending` | `queued` | the slot of": "The tests of `packages/generations` prove it.",
      "A job that has lost": "The tests of `packages/generations` prove it."
    },
    "waiting": { "- A server that stops": "`stop.integration.test.ts` proves it." },
    "event-streams": {
      "- The event id": documented,
      "- If two changes": descriptive,
      "- After 15 seconds": "The tests of `packages/http-server` prove it."
    },
    "lists": { "Jobs are deleted": "The tests of `packages/generations` prove it." },
    "results": {
      "Responses follow": descriptive,
      "A server uses constant memory": "`slowReaders.integration.test.ts` proves it."
    },
    "download-limits": {
      "- A client that falls behind": "The tests of `packages/http-server` prove it.",
      "- A server keeps the place": "The contract of places in `packages/rate-limit` proves it.",
      "- A server takes bytes": "`sharedDownloads.integration.test.ts` proves it.",
      "- A server keeps what": "The tests of `packages/generations` prove it.",
      "- Downloads through signed URLs":
        "`slowReaders.integration.test.ts` and the tests of `packages/http-server` prove it.",
      "- A running download": "`slowReaders.integration.test.ts` proves it."
    },
    "image-endpoint": { "**Limits.**": "The tests of `packages/http-server` prove it." },
    "health": { "These endpoints": documented },
    "shutdown": { "On SIGTERM": "`stop.integration.test.ts` proves it." }
  },
  "webhooks": {
    "webhooks": { "The contract of webhooks": descriptive },
    "events": {
      "- An event is stored": "`webhookCrash.integration.test.ts` proves it.",
      "- An endpoint receives": "The tests of `packages/webhooks` prove it.",
      "- New types": descriptive
    },
    "body": { "- `data` of an event": "The tests of `packages/webhooks` prove it." },
    "signature": {
      "- `t` is the time": "The tests of `packages/webhooks` prove it.",
      "This secret": "The tests of `packages/webhook-signing` prove it."
    },
    "delivery": {
      "A delivery is": descriptive,
      "- Delivery is at least once": "`webhookDrill.integration.test.ts` proves it.",
      "- Events can arrive": descriptive,
      "- Errors of the service": "The tests of `packages/webhooks` prove it.",
      "- A delivery that waits": "The tests of `packages/webhooks` prove it."
    },
    "endpoints": {
      "- Changing the URL": "The tests of `packages/webhooks` prove it.",
      "- Removing": "The tests of `packages/webhooks` prove it."
    },
    "address-rules": {
      "An endpoint's URL": descriptive,
      "- contain no user name": "The tests of `packages/webhooks` prove it.",
      "A URL that breaks": "The cases of the other statements prove it.",
      "`KINORA_WEBHOOK_ALLOWED_NETWORKS` lists":
        "The tests of `packages/address-guard` and `packages/hosting` prove it."
    }
  }
}
