/** The pages of the console and their tabs, with the ids of what a seeded account has. */

/** The session that a page needs: none, one of an account, or one of an operator. */
export type Viewer = "nobody" | "account" | "operator"

/** Ids that are part of URLs. */
export interface PageIds {
  readonly account: string
  /** A completed job of the account. */
  readonly job: string
  readonly endpoint: string
}

/** A page, or a tab of one. */
export interface ConsolePage {
  /** Names the page in tests and files. */
  readonly name: string
  readonly viewer: Viewer
  /** Path below `/console`. */
  readonly path: (ids: PageIds) => string
  /** Whether another entry is the same page with another tab or view. */
  readonly isTab: boolean
}

const page = (viewer: Viewer, name: string, path: string | ((ids: PageIds) => string)): ConsolePage => ({
  name,
  viewer,
  path: typeof path === "string" ? () => path : path,
  isTab: false
})

const tab = (viewer: Viewer, name: string, path: string | ((ids: PageIds) => string)): ConsolePage => ({
  ...page(viewer, name, path),
  isTab: true
})

/** All pages. */
export const pages: ReadonlyArray<ConsolePage> = [
  page("nobody", "sign-in", "/"),
  page("account", "overview", "/"),
  page("account", "playground", "/playground"),
  tab("account", "playground-result", ({ job }) => `/playground?job=${job}`),
  page("account", "jobs", "/jobs"),
  tab("account", "jobs-grid", "/jobs?view=grid"),
  page("account", "job", ({ job }) => `/jobs/${job}`),
  page("account", "usage", "/usage"),
  page("account", "keys", "/keys"),
  page("account", "webhooks", "/webhooks"),
  page("account", "endpoint", ({ endpoint }) => `/webhooks/${endpoint}`),
  tab("account", "endpoint-deliveries", ({ endpoint }) => `/webhooks/${endpoint}?tab=deliveries`),
  tab("account", "endpoint-verify", ({ endpoint }) => `/webhooks/${endpoint}?tab=verify`),
  tab("account", "endpoint-settings", ({ endpoint }) => `/webhooks/${endpoint}?tab=settings`),
  page("account", "plans", "/plans"),
  page("account", "limits", "/limits"),
  page("account", "settings", "/settings"),
  page("account", "not-found", "/missing"),
  page("operator", "operator-health", "/operator"),
  page("operator", "operator-queue", "/operator/queue"),
  page("operator", "operator-workers", "/operator/workers"),
  page("operator", "operator-models", "/operator/models"),
  page("operator", "operator-accounts", "/operator/accounts"),
  page("operator", "operator-account", ({ account }) => `/operator/accounts/${account}`),
  tab("operator", "operator-account-keys", ({ account }) => `/operator/accounts/${account}?tab=keys`),
  tab("operator", "operator-account-members", ({ account }) => `/operator/accounts/${account}?tab=members`),
  tab("operator", "operator-account-webhooks", ({ account }) => `/operator/accounts/${account}?tab=webhooks`),
  tab("operator", "operator-account-jobs", ({ account }) => `/operator/accounts/${account}?tab=jobs`),
  tab("operator", "operator-account-statement", ({ account }) => `/operator/accounts/${account}?tab=statement`),
  tab("operator", "operator-account-wallet", ({ account }) => `/operator/accounts/${account}?tab=wallet`),
  page("operator", "operator-jobs", "/operator/jobs"),
  page("operator", "operator-job", ({ job }) => `/operator/jobs/${job}`),
  page("operator", "operator-ledger", "/operator/ledger"),
  page("operator", "operator-operators", "/operator/operators"),
  page("operator", "operator-configuration", "/operator/configuration"),
  page("operator", "operator-audit", "/operator/audit")
]
