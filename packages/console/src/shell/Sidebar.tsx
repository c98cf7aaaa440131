/** Navigation. */
import { useQuery } from "@tanstack/react-query"
import { Link, useLocation } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { call } from "../api/call.ts"
import { accountQuery, queryClient } from "../api/queries.ts"
import type { Session } from "../api/types.ts"
import { Meter } from "../components/Badge.tsx"
import { IconButton } from "../components/Button.tsx"
import { Icon } from "../components/Icon.tsx"
import { names } from "../components/names.ts"
import { count } from "../format/number.ts"
import { Mark } from "./Mark.tsx"
import { accountSections, operatorSections } from "./pages.ts"
import { themes, useTheme } from "./Theme.tsx"

const linkClass =
  "flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-sm font-medium transition-colors duration-150 [&_svg]:size-4"
const restClass = "text-muted hover:bg-raised hover:text-ink"

/** The sidebar; below 1024 px a bar with a menu. */
export const Sidebar = ({ session }: { readonly session: Session }) => {
  const [isOpen, setOpen] = useState(false)
  const path = useLocation({ select: ({ pathname }) => pathname })
  const opener = useRef<HTMLButtonElement>(null)
  useEffect(() => setOpen(false), [path])
  useEffect(() => {
    if (!isOpen) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return
      setOpen(false)
      opener.current?.focus()
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [isOpen])
  return (
    <>
      <header className="sticky top-0 z-20 flex h-14 items-center justify-between border-b border-line bg-surface px-4 lg:hidden">
        <Brand />
        <IconButton
          ref={opener}
          size="md"
          label={isOpen ? "Close menu" : "Open menu"}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "cross" : "menu"} />
        </IconButton>
      </header>
      <aside
        id="navigation"
        aria-label="Sidebar"
        className={names(
          "z-20 w-full flex-col gap-5 overflow-y-auto border-line bg-surface p-4 max-lg:fixed max-lg:inset-x-0 max-lg:top-14 max-lg:bottom-0",
          "lg:sticky lg:top-0 lg:flex lg:h-dvh lg:w-60 lg:shrink-0 lg:border-r",
          isOpen ? "flex" : "hidden"
        )}
      >
        <div className="hidden px-1.5 lg:block">
          <Brand />
        </div>
        <Navigation session={session} />
        <div className="mt-auto space-y-3">
          {session.account !== null && <Left />}
          <Foot session={session} />
        </div>
      </aside>
    </>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Brand = () => (
  <Link to="/" className="flex w-fit items-center gap-2.5 rounded-lg text-lg font-semibold tracking-tight">
    <Mark />Kinora
  </Link>
)

const Navigation = ({ session }: { readonly session: Session }) => (
  <nav aria-label="Main" className="space-y-5">
    {(session.scope === "operator" ? operatorSections : accountSections).map(({ links, name }) => (
      <div key={name}>
        <p className="mb-1 px-2.5 text-xs font-medium text-muted">{name}</p>
        <ul className="space-y-0.5">
          {links.map(({ icon, label, to }) => (
            <li key={to}>
              <Link
                to={to}
                className={linkClass}
                activeOptions={{ exact: to === "/" || to === "/operator", includeSearch: false }}
                activeProps={{ className: "bg-raised text-ink", "aria-current": "page" }}
                inactiveProps={{ className: restClass }}
              >
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
          {name === "Account" && (
            <li>
              <a href="/docs" className={names(linkClass, restClass)}>
                <Icon name="bookOpen" />API reference
              </a>
            </li>
          )}
        </ul>
      </div>
    ))}
  </nav>
)

/** The remaining quota and credits. */
const Left = () => {
  const { data } = useQuery(accountQuery)
  if (data === undefined) return null
  const { credits, studio } = data.plans
  return (
    <dl className="space-y-3 rounded-lg border border-line bg-canvas p-3 text-sm">
      {studio.quota !== null && (
        <div className="flex flex-wrap justify-between gap-y-1.5">
          <dt className="text-muted">Images today</dt>
          <dd className="font-medium tabular-nums">
            {count(studio.quota.image.used)} / {count(studio.quota.image.limit)}
          </dd>
          <dd className="w-full">
            <Meter label="Studio images used today" value={studio.quota.image.used} max={studio.quota.image.limit} />
          </dd>
        </div>
      )}
      <div className="flex justify-between">
        <dt className="text-muted">Credits</dt>
        <dd className="font-medium tabular-nums">{count(credits.credits_remaining)}</dd>
      </div>
    </dl>
  )
}

const signOut = async () => {
  await call("DELETE /console/v1/session", {})
  queryClient.clear()
  location.replace("/console/")
}

const themeIcons = { system: "monitor", light: "sun", dark: "moon" } as const

const Foot = ({ session }: { readonly session: Session }) => {
  const [theme, setTheme] = useTheme()
  const who = session.member?.email ?? session.account?.email ?? session.name ?? session.role
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system"
  return (
    <div className="flex items-center justify-between gap-1 border-t border-line pt-3">
      <span className="min-w-0 px-1.5">
        <span className="block truncate text-sm" title={who}>{who}</span>
        <span className="block text-xs text-muted">
          {session.view !== null
            ? "Viewed by an operator"
            : session.scope === "key"
            ? "Signed in with an API key"
            : session.scope === "operator"
            ? `Role: ${session.role}`
            : session.role === "viewer"
            ? "Viewer"
            : "Member"}
        </span>
      </span>
      <span className="flex">
        <IconButton label={`Theme: ${theme}`} onClick={() => setTheme(next)}>
          <Icon name={themeIcons[theme]} />
        </IconButton>
        <IconButton label="Sign out" onClick={() => void signOut()}>
          <Icon name="logOut" />
        </IconButton>
      </span>
    </div>
  )
}
