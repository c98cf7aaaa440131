/** The reason in the address of the sign-in page. */
import { useEffect, useState } from "react"
import { type Failure, failureOf } from "./failures.ts"

/** Returns why the sign-in that leads here has failed, or `null`, and removes the reason from the address. */
export const useFailure = (): Failure | null => {
  const [failure] = useState(() => failureOf(new URLSearchParams(location.hash.slice(1))))
  useEffect(() => {
    if (failure !== null) history.replaceState(history.state, "", location.pathname + location.search)
  }, [failure])
  return failure
}
