/** Light and dark. */
import { useSyncExternalStore } from "react"

/** The choices of a theme. */
export const themes = ["system", "light", "dark"] as const
const densities = ["comfortable", "compact"] as const

/** A choice that the browser keeps and that is set on `<html>`. */
const kept = <T extends string>(name: string, values: readonly [T, ...ReadonlyArray<T>]) => {
  const [usual] = values
  const listeners = new Set<() => void>()
  const read = (): T => values.find((value) => value === localStorage.getItem(name)) ?? usual
  const apply = () => {
    const value = read()
    if (value === usual) delete document.documentElement.dataset[name]
    else document.documentElement.dataset[name] = value
  }
  apply()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const set = (value: T) => {
    localStorage.setItem(name, value)
    apply()
    for (const listener of listeners) listener()
  }
  return () => [useSyncExternalStore(subscribe, read), set] as const
}

/** The theme, and a function that changes it. */
export const useTheme = kept("theme", themes)
/** The density of tables, and a function that changes it. */
export const useDensity = kept("density", densities)
