/** The URLs of the pages. Each page is loaded when it is opened. */
import { createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router"
import { textOf } from "./format/search.ts"
import { page } from "./page.ts"
import { jobSearch } from "./pages/jobs/search.ts"
import { operatorRoutes } from "./pages/operator/routes.tsx"
import { usageSearch } from "./pages/usage/search.ts"
import { endpointSearch } from "./pages/webhooks/search.ts"
import { root } from "./root.tsx"
import { NotFound } from "./shell/NotFound.tsx"
import { PageError } from "./shell/PageError.tsx"

const at = { getParentRoute: () => root } as const

const overview = page("/", lazyRouteComponent(() => import("./pages/overview/Overview.tsx"), "Overview"))
const playground = createRoute({
  ...at,
  path: "/playground",
  validateSearch: (search: Record<string, unknown>) => textOf("job", search),
  component: lazyRouteComponent(() => import("./pages/playground/Playground.tsx"), "Playground")
})
const jobs = createRoute({
  ...at,
  path: "/jobs",
  validateSearch: jobSearch,
  component: lazyRouteComponent(() => import("./pages/jobs/Jobs.tsx"), "Jobs")
})
const job = createRoute({
  getParentRoute: () => jobs,
  path: "/$id",
  component: lazyRouteComponent(() => import("./pages/jobs/JobPanel.tsx"), "JobPanel")
})
const keys = page("/keys", lazyRouteComponent(() => import("./pages/keys/Keys.tsx"), "Keys"))

const usage = createRoute({
  ...at,
  path: "/usage",
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import("./pages/usage/Usage.tsx"), "Usage")
})
const webhooks = page("/webhooks", lazyRouteComponent(() => import("./pages/webhooks/Webhooks.tsx"), "Webhooks"))
const endpoint = createRoute({
  ...at,
  path: "/webhooks/$id",
  validateSearch: endpointSearch,
  component: lazyRouteComponent(() => import("./pages/webhooks/EndpointPage.tsx"), "EndpointPage")
})
const plans = page("/plans", lazyRouteComponent(() => import("./pages/plans/Plans.tsx"), "Plans"))
const limits = page("/limits", lazyRouteComponent(() => import("./pages/limits/Limits.tsx"), "Limits"))
const settings = page("/settings", lazyRouteComponent(() => import("./pages/settings/Settings.tsx"), "Settings"))

/** The router of the application. */
export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    playground,
    jobs.addChildren([job]),
    keys,
    usage,
    webhooks,
    endpoint,
    plans,
    limits,
    settings,
    ...operatorRoutes
  ]),
  basepath: "/console",
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFound
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
