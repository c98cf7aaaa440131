/** The URLs of the pages for operators. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
import { textOf } from "../../format/search.ts"
import { root } from "../../root.tsx"
import { accountSearch, accountTab } from "./accounts/search.ts"
import { operatorJobSearch } from "./jobs/search.ts"

const at = { getParentRoute: () => root } as const

/** The routes. */
export const operatorRoutes = [
  createRoute({
    ...at,
    path: "/operator",
    component: lazyRouteComponent(() => import("./health/Health.tsx"), "Health")
  }),
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
  createRoute({
    ...at,
    path: "/operator/jobs/$id",
    component: lazyRouteComponent(() => import("./jobs/OperatorJob.tsx"), "OperatorJob")
  }),
  createRoute({
    ...at,
    path: "/operator/queue",
    component: lazyRouteComponent(() => import("./queue/Queue.tsx"), "Queue")
  }),
  createRoute({
    ...at,
    path: "/operator/workers",
    component: lazyRouteComponent(() => import("./workers/Workers.tsx"), "Workers")
  }),
  createRoute({
    ...at,
    path: "/operator/models",
    component: lazyRouteComponent(() => import("./models/Models.tsx"), "Models")
  }),
  createRoute({
    ...at,
    path: "/operator/ledger",
    component: lazyRouteComponent(() => import("./ledger/Ledger.tsx"), "Ledger")
  }),
  createRoute({
    ...at,
    path: "/operator/operators",
    component: lazyRouteComponent(() => import("./operators/Operators.tsx"), "Operators")
  }),
  createRoute({
    ...at,
    path: "/operator/configuration",
    component: lazyRouteComponent(() => import("./configuration/Configuration.tsx"), "Configuration")
  }),
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
