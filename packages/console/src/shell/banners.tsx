/** Banners above the page. */
import { onlineManager, useIsFetching, useMutation } from "@tanstack/react-query"
import { useEffect, useSyncExternalStore } from "react"
import { call } from "../api/call.ts"
import type { Session } from "../api/types.ts"
import { Notice } from "../components/Badge.tsx"
import { Button } from "../components/Button.tsx"
import { useNow } from "../components/useNow.ts"
import { plural } from "../format/number.ts"

/** A banner while the browser is offline. Queries resume once it is online again. */
export const OfflineBanner = () => {
  const isOnline = useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline()
  )
  return isOnline ? null : (
    <div className="p-3 pb-0">
      <Notice tone="warning" title="You are offline">Pages update again once you are connected.</Notice>
    </div>
  )
}

/** A banner while an operator views an account. The page returns to those for operators when the view ends. */
export const ViewBanner = ({ session: { view } }: { readonly session: Session }) => {
  const now = useNow(1_000)
  const left = view === null ? 0 : Date.parse(view.until) - now
  const hasEnded = view !== null && left <= 0
  useEffect(() => {
    if (hasEnded) endLocally()
  }, [hasEnded])
  const stop = useMutation({ mutationFn: () => call("DELETE /console/v1/view", {}), onSettled: endLocally })
  return view === null ? null : (
    <div className="sticky top-0 z-10 p-3 pb-0 max-lg:top-14">
      <Notice tone="warning" title={`You view ${view.account.email ?? view.account.id} as an operator`}>
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          You can read everything and change nothing. The view ends in{" "}
          {plural(Math.max(1, Math.ceil(left / 60_000)), "minute")}.
          <Button size="sm" busy={stop.isPending} onClick={() => stop.mutate()}>Stop viewing</Button>
        </span>
      </Notice>
    </div>
  )
}

/** A thin bar while data loads that a page does not yet show. */
export const ProgressBar = () => {
  const isBusy = useIsFetching({ predicate: ({ state }) => state.status === "pending" }) > 0
  return (
    <div aria-hidden="true" className="sticky top-0 z-10 h-0">
      {isBusy && <div className="progress h-0.5 w-full" />}
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Opens the pages for operators anew, so that nothing of the account is left in memory. */
const endLocally = () => location.replace("/console/operator/accounts")
