/** The URLs of the pages for operators. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
import { textOf } from "../../format/search.ts"
import { page } from "../../page.ts"
import { root } from "../../root.tsx"
import { accountSearch, accountTab } from "./accounts/search.ts"
import { operatorJobSearch } from "./jobs/search.ts"

const at = { getParentRoute: () => root } as const

/** The routes. */
export const operatorRoutes = [
  page("/operator", lazyRouteComponent(() => import("./health/Health.tsx"), "Health")),
  createRoute({
    ...at,
    path: "/operator/accounts",
    validateSearch: accountSearch,
    component: lazyRouteComponent(() => import("./accounts/Accounts.tsx"), "Accounts")
  }),
  createRoute({
    ...at,
    path: "/operator/accounts/$id",
    validateSearch: accountTab,
    component: lazyRouteComponent(() => import("./accounts/AccountPage.tsx"), "AccountPage")
  }),
  createRoute({
    ...at,
    path: "/operator/jobs",
    validateSearch: operatorJobSearch,
    component: lazyRouteComponent(() => import("./jobs/OperatorJobs.tsx"), "OperatorJobs")
  }),
  page("/operator/jobs/$id", lazyRouteComponent(() => import("./jobs/OperatorJob.tsx"), "OperatorJob")),
  page("/operator/queue", lazyRouteComponent(() => import("./queue/Queue.tsx"), "Queue")),
  page("/operator/workers", lazyRouteComponent(() => import("./workers/Workers.tsx"), "Workers")),
  page("/operator/models", lazyRouteComponent(() => import("./models/Models.tsx"), "Models")),
  page("/operator/ledger", lazyRouteComponent(() => import("./ledger/Ledger.tsx"), "Ledger")),
  page("/operator/operators", lazyRouteComponent(() => import("./operators/Operators.tsx"), "Operators")),
  page(
    "/operator/configuration",
    lazyRouteComponent(() => import("./configuration/Configuration.tsx"), "Configuration")
  ),
  createRoute({
    ...at,
    path: "/operator/audit",
    validateSearch: (search: Record<string, unknown>) => ({
      ...textOf("actor", search),
      ...textOf("action", search),
      ...textOf("subject", search)
    }),
    component: lazyRouteComponent(() => import("./audit/Audit.tsx"), "Audit")
  })
] as const
