/** The states that all pages share: loading, empty, failed, without permission. */
import type { UseQueryResult } from "@tanstack/react-query"
import { type ReactNode, useEffect, useState } from "react"
import { names } from "./names.ts"
import { Problem } from "./Problem.tsx"

/** Whether 200 ms have passed. Faster responses show no skeleton, so pages do not flicker. */
const useIsSlow = () => {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return isSlow
}

/** A gray block in place of content that is loading. */
export const Skeleton = ({ className }: { readonly className: string }) => {
  const isSlow = useIsSlow()
  return <div role="status" aria-label="Loading" className={names("rounded-lg", isSlow && "shimmer", className)} />
}

/** Rows in place of a table that is loading. */
export const SkeletonRows = ({ rows = 5 }: { readonly rows?: number }) => {
  const isSlow = useIsSlow()
  return (
    <div role="status" aria-label="Loading" className="space-y-3 px-5 pt-2 pb-5">
      {Array.from(
        { length: rows },
        (_, index) => <div key={index} className={names("h-6 rounded-md", isSlow && "shimmer")} />
      )}
    </div>
  )
}

/** One sentence and one action in place of content that does not exist. */
export const Empty = ({ action, children, title }: {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}) => (
  <div className="mx-auto flex max-w-sm flex-col items-center px-5 py-12 text-center">
    <p className="text-base font-medium">{title}</p>
    {children !== undefined && <div className="mt-1 text-sm text-muted">{children}</div>}
    {action !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
  </div>
)

/** Content of a query, or the state in which the query is. Earlier data stays visible while new data loads. */
export const Loaded = <T extends object>({ children, loading, query, what }: {
  readonly query: UseQueryResult<T>
  /** Names the content in the message of an error, such as "Jobs". */
  readonly what: string
  readonly loading: ReactNode
  readonly children: (data: T) => ReactNode
}) => {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) {
    return (
      <div className="p-5">
        <Problem title={`${what} could not be loaded`} error={query.error} onRetry={() => void query.refetch()} />
      </div>
    )
  }
  return loading
}

/** Explains who has the rights that the session lacks. */
export const NoPermission = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="card">
    <Empty title={title}>{children}</Empty>
  </div>
)
