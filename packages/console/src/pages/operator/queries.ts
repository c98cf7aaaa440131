/** Reads of the operator API. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "../../api/call.ts"
import type { RequestOf } from "../../api/contract.ts"

/** The options of a list that is read page by page, again after `refetchInterval` milliseconds if there is one. */
const pages = <Page extends { readonly next_cursor: string | null }>(
  key: ReadonlyArray<unknown>,
  read: (query: { readonly limit: string; readonly cursor?: string }, signal: AbortSignal) => Promise<Page>,
  refetchInterval: number | false = false
) =>
  infiniteQueryOptions({
    queryKey: ["operator", ...key],
    queryFn: ({ pageParam, signal }) =>
      read({ limit: "50", ...(pageParam === undefined ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval
  })

type QueryOf<R extends Parameters<typeof call>[0]> = NonNullable<
  RequestOf<R> extends { readonly query?: infer Q } ? Q : never
>

/** Filters of the list of accounts. */
export type AccountFilters = Pick<QueryOf<"GET /admin/v1/accounts">, "search" | "status">
/** Filters of the search for jobs. */
export type OperatorJobFilters = Omit<QueryOf<"GET /admin/v1/generations">, "limit" | "cursor">
/** Filters of the audit log. */
export type AuditFilters = Omit<QueryOf<"GET /admin/v1/audit">, "limit" | "cursor">

/** Accounts, newest first. */
export const accountsQuery = (filters: AccountFilters) =>
  pages(
    ["accounts", filters],
    (page, signal) => call("GET /admin/v1/accounts", { query: { ...filters, ...page } }, { signal })
  )

/** An account. */
export const operatorAccountQuery = (id: string) =>
  queryOptions({
    queryKey: ["operator", "account", id],
    queryFn: ({ signal }) => call("GET /admin/v1/accounts/:id", { params: { id } }, { signal })
  })

/** The credits of an account. */
export const balancesQuery = (id: string) =>
  queryOptions({
    queryKey: ["operator", "account", id, "balances"],
    queryFn: ({ signal }) => call("GET /admin/v1/accounts/:id/balances", { params: { id } }, { signal })
  })

/** Changes of the balance of an account. */
export const movementsQuery = (id: string) =>
  pages(
    ["account", id, "movements"],
    (page, signal) => call("GET /admin/v1/accounts/:id/movements", { params: { id }, query: page }, { signal })
  )

/** Bookings of an account. */
export const transactionsQuery = (id: string) =>
  pages(
    ["account", id, "transactions"],
    (page, signal) => call("GET /admin/v1/accounts/:id/transactions", { params: { id }, query: page }, { signal })
  )

/** Jobs of all accounts, newest first. */
export const operatorJobsQuery = (filters: OperatorJobFilters) =>
  pages(
    ["jobs", filters],
    (page, signal) => call("GET /admin/v1/generations", { query: { ...filters, ...page } }, { signal }),
    15_000
  )

/** A job with its steps. */
export const operatorJobQuery = (id: string) =>
  queryOptions({
    queryKey: ["operator", "job", id],
    queryFn: ({ signal }) => call("GET /admin/v1/generations/:id", { params: { id } }, { signal }),
    refetchInterval: ({ state }) => state.data === undefined || state.data.run === null ? false : 3_000
  })

/** The queues of the models. */
export const queueQuery = queryOptions({
  queryKey: ["operator", "queue"],
  queryFn: ({ signal }) => call("GET /admin/v1/queue", { query: { limit: "100" } }, { signal }),
  refetchInterval: 5_000
})

/** The lanes of the accounts. */
export const lanesQuery = pages(
  ["lanes"],
  (page, signal) => call("GET /admin/v1/queue/lanes", { query: page }, { signal }),
  5_000
)

/** The workers. */
export const workersQuery = queryOptions({
  queryKey: ["operator", "workers"],
  queryFn: ({ signal }) => call("GET /admin/v1/workers", { query: { limit: "100" } }, { signal }),
  refetchInterval: 5_000
})

/** The models. */
export const operatorModelsQuery = queryOptions({
  queryKey: ["operator", "models"],
  queryFn: ({ signal }) => call("GET /admin/v1/models", { query: { limit: "100" } }, { signal }),
  refetchInterval: 10_000
})

/** The totals of all books. */
export const trialBalanceQuery = queryOptions({
  queryKey: ["operator", "trial-balance"],
  queryFn: ({ signal }) => call("GET /admin/v1/ledger/trial-balance", {}, { signal })
})

/** The settings of the server. */
export const configurationQuery = queryOptions({
  queryKey: ["operator", "configuration"],
  queryFn: ({ signal }) => call("GET /admin/v1/configuration", {}, { signal })
})

/** The storage of the server. */
export const storageQuery = queryOptions({
  queryKey: ["operator", "storage"],
  queryFn: ({ signal }) => call("GET /admin/v1/storage", {}, { signal }),
  refetchInterval: 60_000
})

/** The operators. */
export const operatorsQuery = queryOptions({
  queryKey: ["operator", "operators"],
  queryFn: ({ signal }) => call("GET /admin/v1/operators", {}, { signal })
})

/** The sessions of an operator. */
export const operatorSessionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["operator", "operators", id, "sessions"],
    queryFn: ({ signal }) => call("GET /admin/v1/operators/:id/sessions", { params: { id } }, { signal })
  })

/** The audit log, newest first. */
export const auditQuery = (filters: AuditFilters) =>
  pages(
    ["audit", filters],
    (page, signal) => call("GET /admin/v1/audit", { query: { ...filters, ...page } }, { signal })
  )

/** Whether the service accepts requests. `unknown` if this listener does not report it. */
export const readinessQuery = queryOptions({
  queryKey: ["operator", "readiness"],
  queryFn: async ({ signal }): Promise<"ready" | "unavailable" | "unknown"> => {
    const { status } = await fetch("/readyz", { signal })
    return status === 200 ? "ready" : status === 404 ? "unknown" : "unavailable"
  },
  refetchInterval: 10_000
})
