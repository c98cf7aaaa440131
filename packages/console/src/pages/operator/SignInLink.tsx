/** Sign-in links of accounts and operators. */
import { useMutation } from "@tanstack/react-query"
import { problemOf } from "../../api/problem.ts"
import { Button, type ButtonLook } from "../../components/Button.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { Problem } from "../../components/Problem.tsx"
import { SecretDialog } from "../../components/Secret.tsx"

/** A button that creates a link and shows it once. */
export const SignInLinkButton = ({ create, size = "sm", who }: {
  readonly who: string
  readonly size?: ButtonLook["size"]
  readonly create: () => Promise<{ readonly url: string }>
}) => {
  const link = useMutation({ mutationFn: create })
  return (
    <>
      <Button size={size} busy={link.isPending} onClick={() => link.mutate()}>Create sign-in link</Button>
      {link.isError && (
        <Dialog title={problemOf(link.error).title} onClose={link.reset}>
          <Problem title="The link was not created" error={link.error} />
        </Dialog>
      )}
      {link.data !== undefined && (
        <SecretDialog
          title={`Sign-in link of ${who}`}
          about="Whoever opens it is signed in. It works once, within 10 minutes."
          what="link"
          secret={link.data.url}
          examples={[]}
          onClose={link.reset}
        />
      )}
    </>
  )
}
