/** Reads of pages, and their cache. */
import { isFinal, type ListQuery } from "@kinora/client"
import { infiniteQueryOptions, QueryCache, QueryClient, queryOptions } from "@tanstack/react-query"
import { inDays } from "../format/time.ts"
import { call, kinora } from "./call.ts"
import { isSessionEnded } from "./problem.ts"
import type { Generation } from "./types.ts"

/** The cache of all pages. A 401 marks the session as ended, so the shell asks to sign in and then returns to the page. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSessionEnded(error) && queryKey[0] !== "session") {
        void queryClient.invalidateQueries({ queryKey: ["session"] })
      }
    }
  }),
  // `@kinora/client` already retries.
  defaultOptions: { queries: { retry: false, staleTime: 15_000 } }
})

/** Whether a page was read with a session, which has ended if there is none. */
export const hasReadPages = (): boolean =>
  queryClient.getQueryCache().getAll().some(({ queryKey }) => queryKey[0] !== "session" && queryKey[0] !== "sign-in")

/** The session; `null` if nobody is signed in. That of an operator who views an account is like one of a viewer. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => {
    const session = await call("GET /console/v1/session", {}, { signal })
    return session === null || session.view === null
      ? session
      : { ...session, scope: "account" as const, role: "viewer" as const, account: session.view.account }
  },
  staleTime: Infinity
})

/** The ways to sign in besides links and API keys. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in"],
  queryFn: ({ signal }) => call("GET /console/v1/sign-in", {}, { signal }),
  staleTime: 60_000
})

/** The models. */
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => kinora.models.list({ signal }),
  staleTime: 60_000
})

/** Plans, credits, quotas and limits of the account. */
export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => kinora.account.get({ signal }),
  refetchInterval: 60_000
})

/** Jobs by status, and running and waiting jobs per plan. */
export const summaryQuery = queryOptions({
  queryKey: ["summary"],
  queryFn: ({ signal }) => call("GET /console/v1/summary", {}, { signal }),
  refetchInterval: 15_000
})

/** The latest jobs. */
export const recentQuery = queryOptions({
  queryKey: ["jobs", "recent"],
  queryFn: ({ signal }) => kinora.generations.page({ limit: 16 }, { signal }),
  refetchInterval: ({ state }) => hasActive(state.data?.data ?? []) ? 3_000 : 60_000
})

/** Filters of the list of jobs. `days` limits it to jobs created in the last days. */
export interface JobFilters extends Omit<ListQuery, "limit" | "from" | "to"> {
  readonly days?: string
}

/** Jobs, newest first. */
export const jobsQuery = ({ days, ...filters }: JobFilters) =>
  infiniteQueryOptions({
    queryKey: ["jobs", "list", filters, days],
    queryFn: ({ pageParam, signal }) =>
      kinora.generations.page({
        ...filters,
        limit: 50,
        ...(days === undefined ? {} : { from: inDays(-Number(days)) }),
        ...(pageParam === undefined ? {} : { cursor: pageParam })
      }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => hasActive(state.data?.pages.flatMap(({ data }) => data) ?? []) ? 3_000 : 30_000
  })

/** A job. Polled while it runs, unless a stream updates it. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["job", id],
    queryFn: ({ signal }) => kinora.generations.get(id, { signal }),
    refetchInterval: ({ state }) => state.data === undefined || isFinal(state.data) ? false : 2_000
  })

/** The steps, bookings and webhook events of a job. */
export const activityQuery = (id: string) =>
  queryOptions({
    queryKey: ["activity", id],
    queryFn: ({ signal }) => call("GET /console/v1/generations/:id/activity", { params: { id } }, { signal })
  })

/** Jobs and credits by day, and by API key if asked. */
export const usageQuery = (from: string, to: string, byKey: boolean) =>
  queryOptions({
    queryKey: ["usage", from, to, byKey],
    queryFn: ({ signal }) => kinora.account.usage({ from, to, ...(byKey ? { group_by: "key" } : {}) }, { signal }),
    placeholderData: (previous) => previous
  })

/** Bookings of the account, newest first. */
export const statementQuery = infiniteQueryOptions({
  queryKey: ["statement"],
  queryFn: ({ pageParam, signal }) =>
    call("GET /console/v1/statement", {
      query: { limit: "50", ...(pageParam === undefined ? {} : { cursor: pageParam }) }
    }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined
})

/** The sessions of the account. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => call("GET /console/v1/sessions", {}, { signal })
})

/** Whether one of the jobs has not ended. */
const hasActive = (jobs: ReadonlyArray<Generation>): boolean => jobs.some((job) => !isFinal(job))
