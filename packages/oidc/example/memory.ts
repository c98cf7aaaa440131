import { OidcProviders } from "@kinora/oidc"
import { Console, Effect, Redacted } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// Stands for the provider: it has a discovery document.
const server = createServer((request, response) => {
  const issuer = `http://${request.headers.host}`
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`
  }))
})
await once(server.listen(0, "127.0.0.1"), "listening")
const { port } = server.address() as AddressInfo

const program = Effect.gen(function*() {
  const provider = yield* OidcProviders.make({
    id: "team",
    name: "Example ID",
    issuer: `http://127.0.0.1:${port}`,
    client_id: "service",
    client_secret: Redacted.make("the secret of the client"),
    allow_http: true
  })
  // Keep these values with the browser. `complete` takes them, and the query with which the browser comes back.
  const attempt = {
    redirectUri: "https://media.example.com/callback",
    state: "random text",
    nonce: "other random text",
    verifier: "43 to 128 random characters".replaceAll(" ", "-").padEnd(43, "-")
  }
  const { pathname, searchParams } = new URL(yield* provider.begin(attempt))
  yield* Console.log(provider.name, pathname, searchParams.get("code_challenge_method"))
})

await Effect.runPromise(program)
server.close()
// Example ID /authorize S256
