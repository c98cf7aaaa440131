/** The page after an unexpected error, such as a file of an older version that no longer exists. */
import type { ErrorComponentProps } from "@tanstack/react-router"
import { problemOf } from "../api/problem.ts"
import { Button } from "../components/Button.tsx"
import { Page } from "../components/Card.tsx"
import { Empty } from "../components/States.tsx"

/** Offers to reload, which loads the current version of the application. */
export const PageError = ({ error }: ErrorComponentProps) => (
  <Page title="The page failed" width="max-w-2xl">
    <div className="card">
      <Empty
        title="This page stopped working"
        action={
          <Button
            variant="primary"
            onClick={() => location.reload()}
          >
            Reload
          </Button>
        }
      >
        {problemOf(error).detail}
      </Empty>
    </div>
  </Page>
)
