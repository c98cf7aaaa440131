/** Keyboard shortcuts. */
import { useNavigate } from "@tanstack/react-router"
import { type ReactNode, useEffect, useState } from "react"
import type { Session } from "../api/types.ts"
import { Dialog } from "../components/Dialog.tsx"

const accountPages = [
  ["o", "Overview", "/"],
  ["p", "Playground", "/playground"],
  ["j", "Jobs", "/jobs"],
  ["u", "Usage", "/usage"],
  ["k", "API keys", "/keys"],
  ["w", "Webhooks", "/webhooks"]
] as const

const operatorPages = [
  ["h", "Health", "/operator"],
  ["a", "Accounts", "/operator/accounts"],
  ["j", "Jobs", "/operator/jobs"],
  ["q", "Queue", "/operator/queue"],
  ["l", "Ledger", "/operator/ledger"]
] as const

/** Installs the shortcuts: `g` and a letter opens a page, `/` focuses the search, `?` returns the list of all. */
export const useShortcuts = (session: Session): ReactNode => {
  const [isListed, setListed] = useState(false)
  const navigate = useNavigate()
  const pages = session.scope === "operator" ? operatorPages : accountPages
  useEffect(() => {
    let isAfterG = false
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      const page = isAfterG ? pages.find(([key]) => key === event.key) : undefined
      isAfterG = event.key === "g" && !isAfterG
      if (page !== undefined) void navigate({ to: page[2] })
      if (event.key === "?") setListed(true)
      const search = document.querySelector<HTMLInputElement>("input[type=search]")
      if (event.key === "/" && search !== null) {
        event.preventDefault()
        search.focus()
      }
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [pages, navigate])
  if (!isListed) return null
  const all = [...pages.map(([key, name]) => [`g ${key}`, name]), ["/", "Search"], ["Ctrl Enter", "Generate"], [
    "?",
    "This list"
  ]]
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setListed(false)}>
      <dl className="divide-y divide-line text-sm">
        {all.map(([keys = "", name]) => (
          <div key={keys} className="flex items-center justify-between py-2">
            <dt>{name}</dt>
            <dd className="flex gap-1">
              {keys.split(" ").map((key) => (
                <kbd key={key} className="rounded border border-line-strong bg-raised px-1.5 font-mono text-xs">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches("input:not([type=radio], [type=checkbox]), textarea, select") ||
    target.closest("dialog") !== null)
