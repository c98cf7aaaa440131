/** Reads of the operator API. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "../../api/call.ts"
import type { RequestOf } from "../../api/contract.ts"

const firstPage = undefined as string | undefined
const nextPage = (page: { readonly next_cursor: string | null }) => page.next_cursor ?? undefined
const cursorOf = (cursor: string | undefined) => cursor === undefined ? {} : { cursor }

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
  infiniteQueryOptions({
    queryKey: ["operator", "accounts", filters],
    queryFn: ({ pageParam, signal }) =>
      call("GET /admin/v1/accounts", { query: { ...filters, limit: "50", ...cursorOf(pageParam) } }, { signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage
  })

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
  infiniteQueryOptions({
    queryKey: ["operator", "account", id, "movements"],
    queryFn: ({ pageParam, signal }) =>
      call("GET /admin/v1/accounts/:id/movements", {
        params: { id },
        query: { limit: "50", ...cursorOf(pageParam) }
      }, { signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage
  })

/** Bookings of an account. */
export const transactionsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["operator", "account", id, "transactions"],
    queryFn: ({ pageParam, signal }) =>
      call("GET /admin/v1/accounts/:id/transactions", {
        params: { id },
        query: { limit: "50", ...cursorOf(pageParam) }
      }, { signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage
  })

/** Jobs of all accounts, newest first. */
export const operatorJobsQuery = (filters: OperatorJobFilters) =>
  infiniteQueryOptions({
    queryKey: ["operator", "jobs", filters],
    queryFn: ({ pageParam, signal }) =>
      call("GET /admin/v1/generations", { query: { ...filters, limit: "50", ...cursorOf(pageParam) } }, { signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage,
    refetchInterval: 15_000
  })

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
export const lanesQuery = infiniteQueryOptions({
  queryKey: ["operator", "lanes"],
  queryFn: ({ pageParam, signal }) =>
    call("GET /admin/v1/queue/lanes", { query: { limit: "50", ...cursorOf(pageParam) } }, { signal }),
  initialPageParam: firstPage,
  getNextPageParam: nextPage,
  refetchInterval: 5_000
})

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
  infiniteQueryOptions({
    queryKey: ["operator", "audit", filters],
    queryFn: ({ pageParam, signal }) =>
      call("GET /admin/v1/audit", { query: { ...filters, limit: "50", ...cursorOf(pageParam) } }, { signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage
  })

/** Whether the service accepts requests. `unknown` if this listener does not report it. */
export const readinessQuery = queryOptions({
  queryKey: ["operator", "readiness"],
  queryFn: async ({ signal }): Promise<"ready" | "unavailable" | "unknown"> => {
    const { status } = await fetch("/readyz", { signal })
    return status === 200 ? "ready" : status === 404 ? "unknown" : "unavailable"
  },
  refetchInterval: 10_000
})
