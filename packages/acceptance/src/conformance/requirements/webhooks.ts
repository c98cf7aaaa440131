/** What `interface.md` says of events, and the decisions on webhooks (D43 to D48). */

/** Events: what is sent, and when. */
export const events = {
  "events.post": "Webhooks are POST requests with a JSON body sent to HTTPS endpoints registered by the account",
  "events.max": "(up to 5 endpoints per account).",
  "events.started": "generation.started | the generator starts the job",
  "events.completed": "generation.completed | the job finished and the result can be downloaded",
  "events.failed": "generation.failed | the job failed and was refunded"
} as const

/** Events, Body. */
export const body = {
  "body.id": "id | string | identifies the delivery",
  "body.duplicates": "the same event can arrive more than once, so duplicates are ignored by this id",
  "body.type": "type | string | event type",
  "body.createdAt": "created_at | date-time",
  "body.generation": "data.generation | object | the same job object as GET /v1/generations/{id}",
  "body.url": "the content URL in it is valid for one hour"
} as const

/** Events, Headers. */
export const headers = {
  "headers.contentType": "Content-Type | application/json",
  "headers.userAgent": "User-Agent | Service-Webhooks/1.0",
  "headers.event": "X-Service-Event | the event name",
  "headers.delivery": "X-Service-Delivery | the delivery id",
  "headers.signature": "X-Service-Signature | `t=<unix seconds>,v1=<hex>`"
} as const

/** Events, Signature. */
export const signature = {
  "signature.v1":
    "`v1` = lowercase hex of HMAC-SHA256 over the string `<t>.` followed by the raw request body bytes, keyed with the endpoint secret.",
  "signature.prefix": "The secret is a string starting with `whsec_`",
  "signature.once": "shown once when the endpoint is created",
  "signature.whole": "the whole string including the prefix is the key.",
  "signature.raw": "Receivers compute it over the raw bytes before parsing, compare in constant time",
  "signature.age": "reject a timestamp older than 5 minutes",
  "signature.malformed": "treat any malformed header as a failed check.",
  "signature.several": "The header may hold several `v1` values; any match is valid.",
  "signature.rotated": "A new secret can be issued for an endpoint at any time and is shown once",
  "signature.newSecret": "events sent after the change are signed with the new secret."
} as const

/** Events, Endpoint requirements. */
export const endpoints = {
  "endpoints.https": "HTTPS only",
  "endpoints.port": "port 443 or 8443",
  "endpoints.public": "public address.",
  "endpoints.private": "Endpoints on private networks or localhost are rejected.",
  "endpoints.ownDomains": "Endpoints on the service's own domains are rejected.",
  "endpoints.answer": "The endpoint must answer any 2xx within 10 seconds",
  "endpoints.failed": "anything else or no answer is a failed send.",
  "endpoints.signatureOnly":
    "Deliveries come from a content-delivery network's addresses, not from a fixed address range, so authentication is by signature only."
} as const

/** Events, Delivery schedule. */
export const schedule = {
  "schedule.four": "Each event is sent at most 4 times: the first send and 3 retries after 10, 60 and 300 seconds.",
  "schedule.failed": "After the fourth failed send the delivery is marked failed.",
  "schedule.log": "The developer page shows the last 20 sends of each endpoint with HTTP status and a short reason.",
  "schedule.result":
    "A failed webhook never loses the result: the job remains readable through GET /v1/generations/{id} and downloadable within the download window."
} as const

/** What the other sections say of events. */
export const elsewhere = {
  "states.startedEvent": "queued | generator starts the job | processing | event `generation.started`",
  "states.completedEvent": "running | generator finishes | success | completed | event `generation.completed`",
  "states.failedEvent": "running | generator fails | failure | failed | event `generation.failed`",
  "authentication.webhooks": "Webhook deliveries are authenticated by signature (see Events).",
  "limits.webhookEndpoints": "Webhook endpoints | up to 5 per account",
  "limits.webhookAnswer": "Webhook limits: 10-second answer time",
  "limits.webhookSends": "Webhook limits: 4 sends per event",
  "limits.webhookTolerance": "Webhook limits: signature tolerance 5 minutes",
  "limits.webhookUrl": "Webhook limits: content URL in a webhook valid for one hour."
} as const

/** Decisions on ids and job states (D2, D7, D8), as far as they are about events. */
export const states = {
  "D2.webhookIds": "`whep_` webhook endpoint, `evt_` event, `dlv_` delivery",
  "D7.startedEvent": "queued → processing: a worker starts it; `generation.started`",
  "D7.onceStarted": "no second `started` event",
  "D7.completedEvent": "processing → completed: result stored; `generation.completed`",
  "D7.failedEvent": "processing → failed: the generator failed for good; refunded; `generation.failed`",
  "D7.droppedEvent":
    "pending, queued → failed: it waited longer than the queue limit (24 h); refunded; `generation.failed`",
  "D8.announced": "Cancelling is not announced by webhook."
} as const

/** Webhooks (D43 to D48). */
export const decisions = {
  "D43.event": "Event id (`evt_…`) identifies the event",
  "D43.delivery":
    "the body's `id` and `X-Service-Delivery` carry the delivery id (`dlv_…`), one per event and endpoint",
  "D43.sameId": "the same on every retry.",
  "D43.bytes":
    "The body's bytes are the same on every retry but for the content URLs' lifetime (they are made at the first send).",
  "D43.names":
    "Header names and User-Agent as in `interface.md`, configurable by prefix for those who embed the package.",
  "D44.send":
    "A send is refused before it leaves when the endpoint's host now resolves to an address that is not public unicast",
  "D44.address": "the connection goes to the very address that was checked",
  "D44.forms": "(IPv4 and IPv6, mapped and embedded forms included)",
  "D44.redirects": "redirects are not followed and count as a failed send",
  "D44.answer": "at most 64 KiB of the answer is read.",
  "D44.allowPrivate":
    "`KINORA_WEBHOOK_ALLOW_PRIVATE=true` lifts scheme, port and address rules, for development and tests only",
  "D44.warning": "the server logs a warning at start.",
  "D45.ok": "`ok`",
  "D45.status": "`status_<code>`",
  "D45.timeout": "`timeout`",
  "D45.dns": "`dns`",
  "D45.connect": "`connect`",
  "D45.tls": "`tls`",
  "D45.blockedAddress": "`blocked_address`",
  "D45.redirect": "`redirect`",
  "D45.protocol": "`protocol`",
  "D45.disabled": "`disabled`",
  "D46.slow": "One slow or dead endpoint never delays another's deliveries.",
  "D46.afterEnd": "after the failed send ended",
  "D46.times": "Times of retries: 10, 60, 300 s after the failed send ended, ±0.",
  "D47.traffic": "Rotating a secret",
  "D47.new": "events created after the change are signed with the new one",
  "D47.overlap": "a rotation may ask for an overlap in which both signatures are sent.",
  "D47.range": "(0 to 24 h)",
  "D48.resend": "The developer page also re-sends a delivery",
  "D48.test": "and sends a test event (`type` `webhook.test`)."
} as const

/** Operator interface (D50), as far as it is about webhooks. */
export const operating = {
  "D50.webhooks": "HTTP under `/admin/v1`, bearer `KINORA_ADMIN_TOKEN`: webhook endpoints"
} as const
