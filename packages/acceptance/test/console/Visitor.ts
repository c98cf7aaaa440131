/** Tabs of the people who use a console. They sign in once per host, not once per page. */
import { drills } from "../../src/console/ConsoleHost.ts"
import { post, seed, type Seeded } from "../../src/console/ConsoleSeed.ts"
import type { Tab } from "../../src/console/Tab.ts"
import * as SignIn from "./signIn.ts"
import type { Stand } from "./Stand.ts"

/** An account with data, and tabs whose sessions differ in their rights. */
interface Visitors {
  readonly ids: Seeded
  /** A member of the account. */
  readonly account: Tab
  /** The owner of the service. */
  readonly operator: Tab
  /** A session with the API key of the account. */
  readonly key: Tab
  /** Those who change nothing: a viewer of the account, and an auditor. */
  readonly readers: { readonly account: Tab; readonly operator: Tab }
}

/** Returns the same visitors for every test of a host. */
export type Visit = (stand: Stand) => Promise<Visitors>

/** Creates the visitors on the first call. */
export const once = (): Visit => {
  let visitors: Promise<Visitors> | undefined
  return (stand) => visitors ??= make(stand)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
  const byLink = async (link: string) => {
    const tab = await stand.openKept()
    await SignIn.byLink(tab, link)
    return tab
  }
  const key = await stand.openKept()
  await SignIn.byKey(key, `${stand.baseUrl}/console/`, account.key)
  return {
    ids,
    key,
    account: await byLink(await stand.accountLink(account.id)),
    operator: await byLink(await stand.operatorLink("owner")),
    readers: {
      account: await byLink(await stand.accountLink(account.id, "viewer")),
      operator: await byLink(await stand.operatorLink(auditor.id))
    }
  }
}
