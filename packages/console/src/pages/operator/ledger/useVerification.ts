/** Verification of all accounts, page by page. */
import { useEffect, useRef, useState } from "react"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"

/** A figure that differs from the books. */
export type Discrepancy = ResponseOf<"POST /admin/v1/ledger/verify">["discrepancies"][number]

interface Progress {
  readonly state: "idle" | "running" | "stopped" | "done" | "failed"
  readonly accounts: number
  readonly discrepancies: ReadonlyArray<Discrepancy>
  readonly error: unknown
}

const idle: Progress = { state: "idle", accounts: 0, discrepancies: [], error: null }

/** Starts and stops a verification, and reports its progress. Leaving the page stops it. */
export const useVerification = () => {
  const [progress, setProgress] = useState(idle)
  const abort = useRef<AbortController>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const start = async () => {
    const controller = new AbortController()
    abort.current = controller
    setProgress({ ...idle, state: "running" })
    try {
      let cursor: string | null = null
      do {
        const page: ResponseOf<"POST /admin/v1/ledger/verify"> = await call("POST /admin/v1/ledger/verify", {
          query: { limit: "1000", ...(cursor === null ? {} : { cursor }) }
        }, { signal: controller.signal })
        cursor = page.next_cursor
        const state = cursor === null ? "done" : "running"
        setProgress((now) => ({
          ...now,
          state,
          accounts: now.accounts + page.accounts,
          discrepancies: [...now.discrepancies, ...page.discrepancies]
        }))
      } while (cursor !== null)
    } catch (error) {
      setProgress((now) =>
        controller.signal.aborted ? { ...now, state: "stopped" } : { ...now, state: "failed", error }
      )
    }
  }
  return { ...progress, start: () => void start(), stop: () => abort.current?.abort() }
}
