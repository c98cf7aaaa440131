/** Statements of `docs/reference/webhooks.md`, by section. */
export const webhooks = {
  "webhooks": {
    "webhooks.post": "Webhooks are POST requests with a JSON body, sent to HTTPS endpoints of the account.",
    "webhooks.max": "An account can have 5 endpoints."
  },
  "events": {
    "events.started": "`generation.started` | a worker starts the job",
    "events.completed": "`generation.completed` | the job finished and its result can be downloaded",
    "events.failed": "`generation.failed` | the job failed and was refunded",
    "events.test": "`webhook.test` | an operator requested a test of the endpoint",
    "events.cancelled":
      "A job that is cancelled sends no event. A job that is taken over by another worker sends no second `generation.started`."
  },
  "body": {
    "body.id": "id of the delivery (`dlv_…`): one event for one endpoint. It is the same in every send",
    "body.type": "`type` | string | see [events](#events)",
    "body.createdAt": "`created_at` | time | when the event happened",
    "body.generation": "`data.generation` | object",
    "body.bytes": "The body has the same bytes in every send of a series. It is made at the first send.",
    "body.urls": "The signed URLs in it are valid for one hour from the first send"
  },
  "headers": {
    "headers.contentType": "`Content-Type` | `application/json`",
    "headers.userAgent": "`User-Agent` | `Service-Webhooks/1.0`",
    "headers.event": "`X-Service-Event` | the event type",
    "headers.delivery": "`X-Service-Delivery` | the delivery id, equal to `id`",
    "headers.signature": "`X-Service-Signature` | `t=<unix seconds>,v1=<hex>`",
    "headers.names": "can choose another header prefix and user agent"
  },
  "signature": {
    "signature.v1":
      "`v1` is the lowercase hex of HMAC-SHA256 over `<t>.` followed by the raw bytes of the body. The key is the endpoint's secret.",
    "signature.prefix": "A secret starts with `whsec_`.",
    "signature.whole": "The whole string, including the prefix, is the key.",
    "signature.once": "It is shown once, when it is issued.",
    "signature.several": "The header can contain several `v1` values. Any match is valid.",
    "signature.raw": "Receivers compute the HMAC over the raw bytes before parsing, compare in constant time",
    "signature.age": "reject timestamps that are more than 5 minutes old",
    "signature.malformed": "and treat a malformed header as a failed verification",
    "signature.only": "Only the signature authenticates them."
  },
  "rotation": {
    "rotation.rotated": "A new secret can be issued at any time; it is shown once.",
    "rotation.newSecret": "Everything sent after the rotation is signed with the new secret",
    "rotation.overlap":
      "A rotation can ask for an overlap of up to 24 hours, during which the older secrets sign as well"
  },
  "delivery": {
    "delivery.times": "second | 10 seconds after the end of the first failed send",
    "delivery.third": "third | 60 seconds after the end of the second",
    "delivery.fourth": "fourth | 300 seconds after the end of the third",
    "delivery.first": "first | at once",
    "delivery.answer":
      "A send succeeds if the endpoint returns any 2xx status within 10 seconds of the start of the send",
    "delivery.failed":
      "Any other status, a redirect, an invalid certificate, a connection error and a timeout are failed sends.",
    "delivery.redirects": "Redirects are not followed.",
    "delivery.limit": "At most 64 KiB of a response are read.",
    "delivery.marked": "After the fourth failed send the delivery is marked `failed`.",
    "delivery.duplicates": "Receivers ignore duplicates by `id`.",
    "delivery.slow": "A slow or unavailable endpoint does not delay deliveries to other endpoints.",
    "delivery.resend": "A delivery that has ended can be sent again by an operator for 7 days",
    "delivery.result": "A failed webhook never loses a result."
  },
  "send-log": {
    "send-log.log": "Operators see the last 20 sends of each endpoint with time, duration, HTTP status and a reason",
    "send-log.ok": "`ok` | 2xx",
    "send-log.status": "`status_<code>` | another status",
    "send-log.timeout": "`timeout` | no response within 10 seconds",
    "send-log.dns": "`dns` | the host name has no address, or the lookup failed",
    "send-log.connect": "`connect` | no connection, or it broke before a response",
    "send-log.tls": "`tls` | the certificate is expired, self-signed, for another name, or its chain is incomplete",
    "send-log.blockedAddress": "`blocked_address` | the host resolves to an address that is not public",
    "send-log.redirect": "`redirect` | 3xx",
    "send-log.protocol": "`protocol` | the response is not HTTP, or breaks off within its head",
    "send-log.disabled": "`disabled` | the endpoint was disabled when the delivery was due; nothing was sent"
  },
  "endpoints": {
    "endpoints.disabled":
      "A disabled endpoint gets no deliveries for events that happen while it is disabled. Deliveries that become due meanwhile end as `failed` with the reason `disabled`"
  },
  "address-rules": {
    "address-rules.https": "use HTTPS",
    "address-rules.port": "on port 443 or 8443",
    "address-rules.public":
      "have a host that resolves only to public unicast addresses, IPv4 or IPv6 (addresses that embed another one, such as IPv4-mapped and NAT64 addresses, are checked by the embedded address)",
    "address-rules.ownDomain": "not be a domain of the service, a name below one",
    "address-rules.send":
      "The host is resolved and checked again before each send, and the connection goes to the address that was checked.",
    "address-rules.allowPrivate": "`KINORA_WEBHOOK_ALLOW_PRIVATE=true` lifts the rules for scheme, port and address.",
    "address-rules.warning": "the server logs a warning when it starts with it"
  }
} as const
