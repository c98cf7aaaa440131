/** An identity provider on this machine: `oidc-provider` over HTTP, with people who sign in without a form. */
import { Effect } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type JWK, Provider } from "oidc-provider"
import * as Listener from "./Listener.ts"

/** Claims of a person. `sub` is the id of the person. */
export interface PersonClaims {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly groups?: ReadonlyArray<string>
}

/** Behavior of the next browser at the provider: signs in as a person, or refuses. */
export type Behavior = PersonClaims | "refuse"

/** A registered client. */
export interface OidcClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUris: ReadonlyArray<string>
  readonly authentication?: "client_secret_basic" | "client_secret_post"
}

/** A provider that listens. */
export interface OidcServer {
  readonly issuer: string
  /** Registers the clients. Their redirect URIs can have ports that are known only after the start. */
  readonly register: (clients: ReadonlyArray<OidcClient>) => void
  /** Sets what the next browsers do. */
  readonly behave: (behavior: Behavior) => void
  /** Requests to this path get no response from now on. */
  readonly hangAt: (path: string) => void
  /** The paths of the requests, oldest first. */
  readonly paths: ReadonlyArray<string>
}

/**
 * Starts the provider on a free port until the scope closes. With the host `localhost`, it is another site for browsers than
 * servers at `127.0.0.1`.
 */
export const start = Effect.fnUntraced(function*(clients: ReadonlyArray<OidcClient> = [], host = "127.0.0.1") {
  const paths: Array<string> = []
  const people = new Map<string, PersonClaims>()
  let behavior: Behavior = "refuse"
  let hanging: string | undefined
  let respond: (request: IncomingMessage, response: ServerResponse) => void = () => {}

  const server = createServer((request, response) => {
    const path = request.url?.split("?", 1)[0] ?? ""
    paths.push(path)
    if (path !== hanging) respond(request, response)
  })
  const issuer = `http://${host}:${yield* Listener.serve(server)}`
  const register = (clients: ReadonlyArray<OidcClient>) => {
    const provider = makeProvider(issuer, clients, people)
    const handle = provider.callback()
    respond = (request, response) => {
      if (request.url?.startsWith("/interaction/") !== true) return void handle(request, response)
      const person = behavior
      if (person !== "refuse") people.set(person.sub, person)
      void finish(provider, person, request, response).catch((error: unknown) =>
        response.destroy(new Error(String(error)))
      )
    }
  }
  register(clients)

  const listening: OidcServer = {
    issuer,
    register,
    behave: (next) => {
      behavior = next
    },
    hangAt: (path) => {
      hanging = path
    },
    paths
  }
  return listening
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeProvider = (
  issuer: string,
  clients: ReadonlyArray<OidcClient>,
  people: ReadonlyMap<string, PersonClaims>
): Provider =>
  new Provider(issuer, {
    clients: clients.map(({ authentication = "client_secret_basic", clientId, clientSecret, redirectUris }) => ({
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [...redirectUris],
      token_endpoint_auth_method: authentication
    })),
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    cookies: { keys: ["a key of the cookies of this test server"] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    jwks: { keys: [makeKey()] },
    pkce: { required: () => true }
  })

/** Makes a key that signs ID tokens. */
const makeKey = (): JWK => ({
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }),
  kty: "RSA",
  kid: "signing",
  use: "sig",
  alg: "RS256"
})

/** Completes the page of the provider that the browser is on. */
const finish = async (
  provider: Provider,
  person: Behavior,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> => {
  const { params, prompt } = await provider.interactionDetails(request, response)
  if (person === "refuse") {
    await provider.interactionFinished(request, response, { error: "access_denied" })
    return
  }
  if (prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: person.sub } })
    return
  }
  const grant = new provider.Grant({ accountId: person.sub, clientId: String(params["client_id"]) })
  grant.addOIDCScope(String(params["scope"]))
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}
