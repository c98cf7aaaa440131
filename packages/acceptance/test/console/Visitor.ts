/** Sessions that tests open tabs with. They sign in once per host, not once per page. */
import type { BrowserContextOptions } from "playwright-core"
import { drills } from "../../src/console/ConsoleHost.ts"
import { post, seed, type Seeded } from "../../src/console/ConsoleSeed.ts"
import * as SignIn from "./signIn.ts"
import type { Stand } from "./Stand.ts"

/** The cookies of a session. */
export type Cookies = NonNullable<BrowserContextOptions["storageState"]>

/** An account with data, and sessions. */
export interface Visitors {
  readonly ids: Seeded
  /** A member of the account. */
  readonly account: Cookies
  /** The owner of the service. */
  readonly operator: Cookies
  /** A session with the API key of the account. */
  readonly key: Cookies
  /** Those who change nothing: a viewer of the account, and an auditor. */
  readonly readers: { readonly account: Cookies; readonly operator: Cookies }
}

/** Returns the same visitors for every test of a host. */
export type Visit = (stand: Stand) => Promise<Visitors>

/** Creates the visitors on the first call. */
export const once = (): Visit => {
  let visitors: Promise<Visitors> | undefined
  return (stand) => visitors ??= make(stand)
}

/** Signs in with a link, and returns the cookies of the session. */
export const signIn = async ({ open }: Stand, link: string): Promise<Cookies> => {
  const tab = await open()
  await SignIn.byLink(tab, link)
  return await tab.context.storageState()
}

/** Runs a function for each item, several at a time. */
export const forEach = async <A>(items: ReadonlyArray<A>, run: (item: A) => Promise<void>): Promise<void> => {
  const rest = [...items]
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Tabs at a time. While one waits for a timer, others use the processor. */
const concurrency = 4

const make = async (stand: Stand): Promise<Visitors> => {
  const account = await stand.openAccount()
  const ids = await seed(stand, account, {
    // Nothing listens there, so every send fails.
    url: "https://localhost:9/webhooks",
    jobs: [
      { model: "kinora-draft", plan: "studio", prompt: "Mountain ridges at dusk, pine forest" },
      { model: drills.failing, plan: "credits", prompt: "City skyline at night" }
    ]
  })
  const auditor = await post(stand.admin, "/admin/v1/operators", { name: "Books", role: "auditor" })
  return {
    ids,
    account: await signIn(stand, await stand.accountLink(account.id)),
    operator: await signIn(stand, await stand.operatorLink("owner")),
    key: await signInByKey(stand, account.key),
    readers: {
      account: await signIn(stand, await stand.accountLink(account.id, "viewer")),
      operator: await signIn(stand, await stand.operatorLink(auditor.id))
    }
  }
}

const signInByKey = async ({ baseUrl, open }: Stand, key: string): Promise<Cookies> => {
  const tab = await open()
  await SignIn.byKey(tab, `${baseUrl}/console/`, key)
  return await tab.context.storageState()
}
