/** The part of the API of Svix's server that the client uses in `src/svix.ts`. It sends each message once, and at once. */
import { json, listen, type Received } from "@kinora/testkit/upstreams/Listener"
import { Effect } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Webhook } from "svix"

/** The token that the server accepts. */
export const token = "testsk_token"

interface Endpoint {
  readonly id: string
  readonly url: string
  readonly key: string
}

/** Starts the server. `sending` returns the number of messages that receivers have not answered. */
export const start = Effect.fnUntraced(function*() {
  const endpoints = new Map<string, Array<Endpoint>>()
  let sending = 0

  const send = async ({ key, url }: Endpoint, body: string) => {
    const [id, now] = [`msg_${randomUUID()}`, new Date()]
    await fetch(url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "svix-id": id,
        "svix-timestamp": `${Math.floor(now.getTime() / 1000)}`,
        "svix-signature": new Webhook(key).sign(id, now, body)
      }
    })
  }

  const handle = ({ body, headers, method, path }: Received, response: ServerResponse) => {
    if (headers.authorization !== `Bearer ${token}`) return json(response, 401, { code: "authentication_failed" })
    const request = body.length === 0 ? {} : JSON.parse(String(body))
    const [, app = "", resource, id] = /^\/api\/v1\/app\/([^/?]+)\/(\w+)\/?([^/?]*)/.exec(path) ?? []
    const of = endpoints.get(app) ?? []
    switch (`${method} ${resource}`) {
      case "POST undefined":
        endpoints.set(request.uid, endpoints.get(request.uid) ?? [])
        return json(response, 200, { id: `app_${request.uid}`, ...request, ...times() })
      case "POST endpoint": {
        const endpoint = {
          id: `ep_${randomUUID()}`,
          url: request.url,
          key: `whsec_${randomBytes(24).toString("base64")}`
        }
        endpoints.set(app, [...of, endpoint])
        return json(response, 201, { id: endpoint.id, url: endpoint.url, description: "", ...times() })
      }
      case "GET endpoint":
        return json(response, 200, { key: of.find((endpoint) => endpoint.id === id)?.key })
      case "POST msg":
        sending += of.length
        for (const endpoint of of) void send(endpoint, JSON.stringify(request.payload)).finally(() => sending--)
        return json(response, 202, { id: `msg_${randomUUID()}`, ...request, timestamp: new Date() })
      default:
        return json(response, 404, { code: "not_found", detail: `${method} ${path}` })
    }
  }

  const { origin } = yield* listen(handle)
  return { origin, sending: () => sending }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const times = () => ({ createdAt: new Date(), updatedAt: new Date(), metadata: {} })
