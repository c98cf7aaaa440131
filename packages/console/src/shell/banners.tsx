/** Banners above the page. */
import { onlineManager, useIsFetching } from "@tanstack/react-query"
import { useSyncExternalStore } from "react"
import { Notice } from "../components/Badge.tsx"

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

/** A thin bar while data loads that a page does not yet show. */
export const ProgressBar = () => {
  const isBusy = useIsFetching({ predicate: ({ state }) => state.status === "pending" }) > 0
  return (
    <div aria-hidden="true" className="sticky top-0 z-10 h-0">
      {isBusy && <div className="progress h-0.5 w-full" />}
    </div>
  )
}
