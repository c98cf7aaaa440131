/** Signing in: with the code of a link, with an API key, or with an identity provider. */
import { useMutation } from "@tanstack/react-query"
import { useLocation } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { openSession } from "../../api/call.ts"
import { CallError, problemOf } from "../../api/problem.ts"
import { queryClient } from "../../api/queries.ts"
import { Notice } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { TextField } from "../../components/Field.tsx"
import { useNow } from "../../components/useNow.ts"
import { Mark } from "../../shell/Mark.tsx"
import { type Failure, failureOf } from "./failures.ts"
import { Methods } from "./Methods.tsx"

/** The code in the fragment of a sign-in link, or `null`. */
export const codeOf = (hash: string): string | null => new URLSearchParams(hash).get("code")

/**
 * The sign-in form. After signing in, the page at the same URL appears. `hasEnded`: there was a session in this tab.
 * `hasSession`: there is one, which a link replaces.
 * Messages appear below the form, so that it does not move.
 */
export const SignIn = ({ hasEnded, hasSession, onSignedIn }: {
  readonly hasEnded: boolean
  readonly hasSession: boolean
  readonly onSignedIn: () => void
}) => {
  const [key, setKey] = useState("")
  const [failure, setFailure] = useState<Failure | null>(null)
  const { error, isPending, isSuccess, mutate, variables } = useMutation({
    mutationFn: openSession,
    onSuccess: async () => {
      setKey("")
      await queryClient.resetQueries()
      onSignedIn()
    }
  })
  useEffect(() => {
    document.title = "Sign in · Kinora"
  }, [])
  useFragment((code, failed) => {
    setFailure(failed)
    if (code !== null) mutate({ code })
  })
  const isLink = variables !== undefined && "code" in variables
  return (
    <main className="grid min-h-full content-start justify-items-center p-4 pt-[max(1rem,14vh)]">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center gap-3 text-center">
          <Mark className="size-10" />
          <h1 className="text-xl font-semibold tracking-tight">Sign in to Kinora</h1>
        </div>
        <div className="card space-y-4 p-5">
          <Reason failure={failure} hasEnded={hasEnded} />
          <Methods busy={isPending || isSuccess} onProxy={() => mutate({ proxy: true })} />
          <form
            className="space-y-4"
            onSubmit={(event) => {
              event.preventDefault()
              if (key.trim() !== "") mutate({ api_key: key.trim() })
            }}
          >
            <TextField
              label="API key"
              type="password"
              name="api-key"
              autoComplete="current-password"
              className="font-mono"
              placeholder="kin_…"
              required
              value={key}
              onChange={setKey}
              help="The session has the rights of the key and ends when the key is revoked."
            />
            <Button type="submit" variant="primary" size="lg" className="w-full" busy={isPending || isSuccess}>
              Sign in
            </Button>
          </form>
          {isPending && isLink && <Notice tone="accent" title="Signing in with your link…" />}
          {error !== null && <Refusal error={error} isLink={isLink} />}
          {hasSession && error !== null && (
            <a href="/console/" className="block text-center text-sm underline">Continue with the current session</a>
          )}
        </div>
        <p className="mt-5 px-2 text-center text-xs text-muted">
          A sign-in link also lets you manage keys and webhooks. The server prints one when it starts, and{" "}
          <code className="font-mono">kinora account sign-in-link</code> creates more.
        </p>
      </div>
    </main>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Calls the function once with the code of the link that the page was opened with, or with the failure of an identity
 * provider, and removes both from the address.
 */
const useFragment = (onRead: (code: string | null, failure: Failure | null) => void): void => {
  const read = useRef<string>(null)
  const hash = useLocation({ select: ({ hash }) => hash })
  useEffect(() => {
    const [code, failure] = [codeOf(hash), failureOf(new URLSearchParams(hash))]
    if ((code === null && failure === null) || read.current === hash) return
    read.current = hash
    // The code is in the fragment, which servers and link scanners never receive.
    history.replaceState(history.state, "", location.pathname + location.search)
    onRead(code, failure)
  }, [hash, onRead])
}

/** Why the form is shown: a sign-in with an identity provider has failed, or the session has ended. */
const Reason = ({ failure, hasEnded }: { readonly failure: Failure | null; readonly hasEnded: boolean }) => {
  if (failure !== null) return <Notice title={failure.title}>{failure.detail}</Notice>
  return hasEnded && <Notice tone="warning" title="Your session has expired">Sign in to continue.</Notice>
}

const Refusal = ({ error, isLink }: { readonly error: Error; readonly isLink: boolean }) => {
  const { code, detail, retryAfterMillis } = problemOf(error)
  if (error instanceof CallError && error.status === 429) {
    return <Countdown key={retryAfterMillis} millis={retryAfterMillis ?? 60_000} />
  }
  if (code === "invalid_code") {
    return (
      <Notice title="This link was already used or has expired">Ask for a new link, or sign in with an API key.</Notice>
    )
  }
  if (code === "no_account") return <Notice title="You have no account">{detail}</Notice>
  if (code === "unauthorized") {
    return (
      <Notice title={isLink ? "This link is not valid" : "This API key is not valid"}>Check it, then try again.</Notice>
    )
  }
  return <Notice title="Sign-in failed">{detail}</Notice>
}

const Countdown = ({ millis }: { readonly millis: number }) => {
  const now = useNow(1_000)
  const [until] = useState(() => Date.now() + millis)
  const seconds = Math.ceil((until - now) / 1000)
  return (
    <Notice tone="warning" title="Too many attempts">
      {seconds > 0 ? `Try again in ${seconds} s.` : "You can try again now."}
    </Notice>
  )
}
