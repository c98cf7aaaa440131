/** The frame of all pages: sign-in, sidebar, and the page. */
import { useQuery } from "@tanstack/react-query"
import { Navigate, Outlet, useLocation, useMatches } from "@tanstack/react-router"
import { useState } from "react"
import { hasReadPages, sessionQuery } from "../api/queries.ts"
import type { Session } from "../api/types.ts"
import { Problem } from "../components/Problem.tsx"
import { NoPermission } from "../components/States.tsx"
import { codeOf, SignIn } from "../pages/sign-in/SignIn.tsx"
import { OfflineBanner, ProgressBar, ViewBanner } from "./banners.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { useJobEvents } from "./useJobEvents.ts"
import { useShortcuts } from "./useShortcuts.tsx"

/**
 * Shows the page if there is a session, otherwise the sign-in form at the same URL. The form also reads a link that is opened
 * while somebody is signed in: its code must not stay in the address, and it starts a session that replaces the former one.
 */
export const Shell = () => {
  const session = useQuery(sessionQuery)
  const isLink = codeOf(useLocation({ select: ({ hash }) => hash })) !== null
  const [isSigningIn, setSigningIn] = useState(isLink)
  if (isLink && !isSigningIn) setSigningIn(true)
  if (session.isPending) return null
  if (session.isError) {
    return (
      <main className="mx-auto max-w-md p-8">
        <h1 className="sr-only">Kinora</h1>
        <Problem title="Cannot reach the server" error={session.error} onRetry={() => void session.refetch()} />
      </main>
    )
  }
  if (session.data === null || isSigningIn) {
    return (
      <SignIn
        hasEnded={session.data === null && hasReadPages()}
        hasSession={session.data !== null}
        onSignedIn={() => setSigningIn(false)}
      />
    )
  }
  return <Frame session={session.data} />
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Frame = ({ session }: { readonly session: Session }) => {
  const shortcuts = useShortcuts(session)
  useJobEvents(session.account !== null)
  return (
    <div className="min-h-full lg:flex">
      <a
        href="#main"
        className="fixed top-2 left-2 z-20 -translate-y-16 rounded-lg bg-ink px-3 py-2 text-sm text-surface focus:translate-y-0"
      >
        Skip to content
      </a>
      <Sidebar session={session} />
      <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <ProgressBar />
        <ViewBanner session={session} />
        <OfflineBanner />
        <Guarded session={session} />
      </main>
      {shortcuts}
    </div>
  )
}

/** The page, if the session permits it. */
const Guarded = ({ session }: { readonly session: Session }) => {
  // Not the location: it changes before the matched page does.
  const isOperatorPage = useMatches({
    select: (matches) => matches.some(({ fullPath }) => /^\/operator(\/|$)/.test(fullPath))
  })
  if (session.account === null && !isOperatorPage) return <Navigate to="/operator" replace />
  if (session.scope !== "operator" && isOperatorPage) {
    return (
      <div className="mx-auto max-w-2xl p-8">
        <h1 className="sr-only">No permission</h1>
        <NoPermission title="This page is for operators">
          Operators sign in with a link that <code className="font-mono text-xs">kinora operator sign-in-link</code>
          {" "}
          prints.
        </NoPermission>
      </div>
    )
  }
  return <Outlet />
}
