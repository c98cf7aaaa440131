/** The current time in components. */
import { useEffect, useState } from "react"

/** The current time in milliseconds, updated at an interval. `null` stops the updates. */
export const useNow = (everyMillis: number | null): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (everyMillis === null) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMillis)
    return () => clearInterval(timer)
  }, [everyMillis])
  return now
}
