/** A server with the console, and what its tests and its screenshots need: accounts, sign-in links, receivers. */
import { DefaultModels } from "@kinora/catalog"
import type { ModelInput } from "@kinora/catalog/Model"
import { Clock, Effect, Schema, type Scope } from "effect"
import * as Stage from "../conformance/Stage.ts"
import * as Drill from "../Drill.ts"
import * as Program from "../Program.ts"
import * as RawHttp from "../RawHttp.ts"
import * as Receivers from "../Receivers.ts"
import * as Site from "../Site.ts"

/** Options of a host. */
export interface ConsoleHostOptions {
  /** URL of an empty Postgres, or empty for PGlite. */
  readonly databaseUrl: string
  /** Archive of an initialised PGlite directory. Default: the host initialises it. */
  readonly pgliteDump?: string | undefined
  /** Models besides the built-in ones. Default: `drills`. */
  readonly models?: ReadonlyArray<ModelInput> | undefined
}

/** A running server on which people sign in. As a client, it sends no key. */
export interface ConsoleHost
  extends RawHttp.RawClient, Pick<Stage.Stage, "baseUrl" | "admin" | "openAccount" | "receive">
{
  /** Creates a link that signs in once to an account. Default role: `member`. */
  readonly accountLink: (account: string, role?: "member" | "viewer") => Promise<string>
  /** Creates a link that signs in once as an operator. Default: the owner of the service. */
  readonly operatorLink: (operator?: string) => Promise<string>
}

/** Models whose jobs end in a way that a test needs, besides the built-in ones. */
export const drills = {
  /** Runs until it is cancelled or failed. */
  endless: "endless",
  /** Fails on every attempt. */
  failing: "failing"
} as const

/** Starts a server. Stopped when the scope closes. */
export const start = Effect.fn("ConsoleHost.start")(
  function*({ databaseUrl, models = drillModels, pgliteDump }: ConsoleHostOptions): Effect.fn.Return<
    ConsoleHost,
    Program.NotReady,
    Scope.Scope
  > {
    const site = yield* Site.make({ databaseUrl, pgliteDump, models: [...DefaultModels.models, ...models] })
    const receivers = yield* Receivers.make()
    const { baseUrl } = yield* Program.startServer({
      ...site.environment,
      ...receivers.environment,
      KINORA_ADMIN_TOKEN: Stage.adminToken,
      // Each tab has a client address of its own, whose failed sign-ins are counted.
      KINORA_TRUSTED_PROXIES: Stage.trustedProxies
    })
    const client = RawHttp.overSocket(baseUrl)
    const admin = client.withToken(Stage.adminToken)
    return {
      ...client,
      baseUrl,
      admin,
      openAccount: Stage.makeOpenAccount({ ...client, admin, now }),
      receive: receivers.start,
      accountLink: (account, role = "member") => linkOf(admin, `/accounts/${account}/sign-in-links`, { role }),
      operatorLink: (operator = "owner") => linkOf(admin, `/operators/${operator}/sign-in-links`)
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const drillModels = [
  Drill.model({ id: drills.endless, name: "Endless", delay: "30 minutes", time_limit: "1 hour", credits: 5 }),
  Drill.model({ id: drills.failing, name: "Failing", failure: "generation_failed", credits: 3 })
]

const clock = Clock.Clock.defaultValue()
const now = () => new Date(clock.currentTimeMillisUnsafe())

const LinkJson = Schema.fromJsonString(Schema.Struct({ url: Schema.String }))

const linkOf = async (admin: RawHttp.RawClient, path: string, json?: object): Promise<string> => {
  const text = await RawHttp.sendAccepted(admin, `/admin/v1${path}`, { method: "POST", json })
  return Schema.decodeSync(LinkJson)(text).url
}
