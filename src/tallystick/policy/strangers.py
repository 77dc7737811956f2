"""Programs that are fetched and run at once, and that nobody here knows: packages, modules, images.

Owns who counts as known: what the project names, what is widely used, what has a version that was chosen, and hosts that are
public registries or the user's own. A package of a registry is daily work, so of the runners only those calls count that answer
the runner's own question beforehand (`npx -y`). Sources: the manuals of npm, go, docker, kubectl and helm.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tallystick.policy.hosts import host_of
from tallystick.policy.host_names import is_below
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import Started, programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, FileKind, World
from tallystick.shell.programs.arguments import names

RISKS: dict[str, str] = {
    "runs-stranger": "a program is fetched and run that neither the project nor many others use, in whatever version there is",
    "runs-strange-image": "an image is run from a host that is no public registry and that the project does not name",
}
_ENGINES = names("docker podman nerdctl buildah finch")
_CLUSTERS = names("kubectl oc k kubecolor")
_PROGRAMS = _ENGINES | _CLUSTERS | names("npx npm go helm")
_NAME = re.compile(r"(?:@[\w.-]+/)?[A-Za-z0-9][\w.-]*")
_SCOPES = names(
    "@modelcontextprotocol @anthropic-ai @openai @google @angular @nestjs @vue @nuxt @playwright @storybook @openapitools @babel "
    "@sveltejs @tailwindcss @shopify @microsoft @azure @aws-amplify @aws-cdk @biomejs @redocly @changesets @commitlint @antfu "
    "@eslint @typescript-eslint @types @prisma @expo @react-native-community @ionic @capacitor @cloudflare @vercel @netlify "
    "@sentry @graphql-codegen @apollo @stoplight @asyncapi @tauri-apps @electron-forge @electron @nx @lerna @rushstack @swc "
    "@vitejs @vitest @tsconfig @mermaid-js @marp-team @slidev @quasar @ui5 @sap @salesforce @github @gitlab @hey-api @tanstack "
    "@trpc @upstash @supabase @neondatabase @convex-dev @clerk @stripe @twilio @wordpress @docusaurus @11ty @astrojs @remix-run "
    "@solidjs @qwik @lingui @formatjs @svgr @parcel @bazel @grpc @bufbuild @arethetypeswrong @stylistic @figma @notionhq @linear "
    "@e2b @browserbasehq @qwen-code @sourcegraph @google-cloud @cyclonedx @snyk @lhci @axe-core @pact-foundation @stryker-mutator"
)
_KNOWN = names(
    "typescript tsc tsx ts-node tsup tsd tsdown esbuild vite vitest jest mocha ava tap c8 nyc playwright cypress puppeteer "
    "eslint prettier biome xo standard stylelint oxlint rome knip depcheck madge dependency-cruiser ts-prune unimported cspell "
    "markdownlint markdownlint-cli markdownlint-cli2 remark remark-cli husky lint-staged commitlint commitizen cz semantic-release "
    "release-it np changeset standard-version npm-check-updates ncu npm-check taze npm-run-all npm-run-all2 concurrently nodemon pm2 "
    "rimraf del-cli cpy-cli shx cross-env dotenv dotenv-cli wait-on start-server-and-test serve http-server live-server "
    "json-server lite-server localtunnel create-vite create-react-app create-next-app create-remix create-expo-app create-vue "
    "create-nuxt create-svelte create-astro create-t3-app create-turbo create-solid create-preact create-electron-app degit tiged "
    "giget yo plop hygen nx turbo lerna rush bit ng vue nuxi nuxt next astro gatsby gatsby-cli remix svelte-check svelte-kit sv "
    "vue-tsc expo expo-cli eas-cli react-native react-native-cli ionic cap tauri electron electron-builder webpack webpack-cli "
    "webpack-dev-server rollup parcel swc babel babel-cli gulp gulp-cli grunt grunt-cli snowpack microbundle unbuild pkgroll ncc "
    "tailwindcss postcss postcss-cli sass less autoprefixer shadcn shadcn-ui prisma drizzle-kit knex sequelize-cli typeorm "
    "mikro-orm kysely-codegen supabase firebase firebase-tools vercel netlify netlify-cli wrangler serverless sls sst aws-cdk cdk "
    "cdktf amplify ampx heroku surge gh-pages storybook sb chromatic lighthouse pa11y axe unlighthouse size-limit bundlesize "
    "bundlewatch source-map-explorer webpack-bundle-analyzer vite-bundle-visualizer openapi-typescript openapi-generator-cli "
    "swagger-cli redoc-cli graphql-codegen graphql quicktype json2ts json-schema-to-typescript typedoc jsdoc api-extractor "
    "documentation docsify docsify-cli vitepress vuepress docusaurus honkit mermaid mmdc marp repomix gitingest npm yarn pnpm bun "
    "corepack n node only-allow patch-package syncpack manypkg publint attw license-checker license-report audit-ci "
    "better-npm-audit snyk retire allure newman artillery autocannon k6 loadtest clinic 0x why-is-node-running kill-port "
    "fkill-cli open-cli tldr envinfo browserslist update-browserslist-db caniuse-cli caniuse-lite sort-package-json fixpack "
    "prettier-package-json all-contributors auto-changelog conventional-changelog conventional-changelog-cli git-cz gitmoji-cli "
    "opencommit prek pre-commit lefthook claude claude-code ccusage mcp-inspector mcp-remote asar esrun zx ts-jest jscodeshift "
    "codemod jscpd lodash-cli svgo svgr imagemin sharp-cli pwa-asset-generator ttf2woff2 uuid nanoid skills agent-browser "
    "playwright-core pyright basedpyright bats"
)
_GO_KNOWN = (
    "golang.org/", "google.golang.org/", "k8s.io/", "sigs.k8s.io/", "go.uber.org/", "honnef.co/", "mvdan.cc/", "gotest.tools/",
    "gorm.io/", "connectrpc.com/", "entgo.io/", "cuelang.org/", "github.com/golang/", "github.com/google/", "github.com/golangci/",
    "github.com/golang-migrate/", "github.com/go-delve/", "github.com/vektra/", "github.com/sqlc-dev/", "github.com/swaggo/",
    "github.com/air-verse/", "github.com/cosmtrek/", "github.com/pressly/", "github.com/bufbuild/", "github.com/goreleaser/",
    "github.com/a-h/templ", "github.com/onsi/", "github.com/mgechev/", "github.com/securego/", "github.com/99designs/",
    "github.com/segmentio/", "github.com/charmbracelet/", "github.com/spf13/", "github.com/matryer/", "github.com/maxbrunsfeld/",
    "github.com/oapi-codegen/", "github.com/deepmap/", "github.com/ogen-go/", "github.com/grpc-ecosystem/", "github.com/protobufs/",
    "github.com/rakyll/", "github.com/uber-go/", "github.com/uudashr/", "github.com/gotestyourself/", "github.com/magefile/",
    "github.com/go-task/", "github.com/evilmartians/", "github.com/kubernetes", "github.com/hashicorp/", "github.com/aquasecurity/",
    "github.com/anchore/", "github.com/sigstore/", "github.com/docker/", "github.com/cloudflare/", "github.com/aws/",
    "github.com/Azure/", "github.com/googleapis/", "github.com/GoogleCloudPlatform/", "github.com/tinygo-org/", "github.com/wailsapp/",
    "github.com/rhysd/", "github.com/client9/", "github.com/fullstorydev/", "github.com/ariga/", "ariga.io/", "github.com/dmarkham/",
    "github.com/alvaroloes/", "github.com/daixiang0/", "github.com/fzipp/", "github.com/boumenot/", "github.com/jstemmer/",
)  # fmt: skip
_REGISTRIES = frozenset(
    (
        "docker.elastic.co", "nvcr.io", "registry.redhat.io", "registry.access.redhat.com", "registry.connect.redhat.com", "lscr.io",
        "cgr.dev", "container-registry.oracle.com", "registry.hub.docker.com", "registry.gitlab.com", "docker.n8n.io",
        "azurecr.io", "pkg.dev", "amazonaws.com", "public.ecr.aws", "ocir.io", "icr.io", "registry.opensuse.org", "registry.suse.com",
        "registry.fedoraproject.org", "registry.digitalocean.com", "k8s.gcr.io", "docker.pkg.github.com", "docker.getoutline.com",
        "docker.litellm.ai", "registry.fly.io", "registry.heroku.com", "codeberg.org", "container.home-assistant.io", "jfrog.io",
        "docker.redpanda.com", "cr.weaviate.io", "mirror.gcr.io", "registry.ollama.ai", "quay.io", "harbor.io",
    )
)  # fmt: skip
_NAMING_IMAGES = (
    "Dockerfile", "Containerfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", ".gitlab-ci.yml",
    "Makefile", "README.md", "Tiltfile", "skaffold.yaml",
)  # fmt: skip


def strangers(reading: CallReading, world: World, settings: Settings) -> Iterator[Risk]:
    """What a call fetches and runs that nobody knows, of RISKS."""
    for started in programs(reading):
        if started.name not in _PROGRAMS:
            continue
        if started.name in ("npx", "npm"):
            name = _package(started)
            if name is not None and not _is_of_project(name, reading, world):
                yield Risk("runs-stranger", name[:200])
        elif started.name == "go":
            module = _module(started)
            if module is not None and not _names(reading, world, ("go.mod", "tools.go", "Makefile"), module):
                yield Risk("runs-stranger", module[:200])
        else:
            for host in _image_hosts(started):
                is_known = is_below(host.partition(":")[0], _REGISTRIES) or (
                    host_of(f"https://{host}", settings).kinds & {"registry", "allowed", "local", "private"}
                )
                if not is_known and not _names(reading, world, _NAMING_IMAGES, host):
                    yield Risk("runs-strange-image", f"{host}: {started.spelled}"[:200])


# Packages ------------------------------------------------------------------------------------------------------------


def _package(started: Started) -> str | None:
    """The package that `npx -y NAME` or `npm exec -y NAME` takes without a question, where nobody chose a version."""
    words = list(started.words)
    if started.name == "npm":
        if words[:1] not in (["exec"], ["x"]):
            return None
        words = words[1:]
    is_answered = False
    named = ""
    while words:
        word = words.pop(0)
        if word in ("-y", "--yes"):
            is_answered = True
        elif word in ("-p", "--package"):
            named = named or (words.pop(0) if words else "")
        elif word.startswith("--package="):
            named = named or word.partition("=")[2]
        elif word[:1] != "-":
            named = named or word
            break
    return named if is_answered and _NAME.fullmatch(named) and not _is_widely_known(named) else None


def _is_widely_known(name: str) -> bool:
    """By its name, or by whose it is; what makes a new project is named after what it makes."""
    return name in _KNOWN or (name[:1] == "@" and name.partition("/")[0].lower() in _SCOPES)


def _is_of_project(name: str, reading: CallReading, world: World) -> bool:
    """Whether the project has it installed, or names it."""
    last = name.rpartition("/")[2]
    for folder in _folders(reading):
        if world.state(posixpath.join(folder, "node_modules/.bin", last)).kind is not FileKind.NOTHING:
            return True
    return _names(reading, world, ("package.json",), f'"{name}"')


def _folders(reading: CallReading) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folder for folder in (reading.folder, reading.workspace) if folder is not None))


def _names(reading: CallReading, world: World, files: tuple[str, ...], text: str) -> bool:
    """Whether one of some files at the top of the project has a text."""
    for folder in _folders(reading):
        for file in files:
            content = world.content(posixpath.join(folder, file))
            if isinstance(content, Content) and text in content.text:
                return True
    return False


# Modules -------------------------------------------------------------------------------------------------------------


def _module(started: Started) -> str | None:
    """The module that `go run PATH@VERSION` fetches."""
    if started.words[:1] != ("run",):
        return None
    for word in started.words[1:]:
        path, at, _ = word.partition("@")
        if at and "." in path.partition("/")[0] and path[:1] not in "-./":
            return None if path.startswith(_GO_KNOWN) else "/".join(path.split("/")[:3])
        if word[:1] != "-":
            return None
    return None


# Images --------------------------------------------------------------------------------------------------------------


def _image_hosts(started: Started) -> Iterator[str]:
    """The hosts of the images and charts that are run."""
    words = started.words
    if started.name in _ENGINES:
        verbs = [word for word in started.operands[:2] if word not in ("container", "image")]
        if verbs[:1] in (["run"], ["create"]):
            yield from _first_image(words)
    elif started.name in _CLUSTERS:
        host = _host(started.value("--image"))
        if host:
            yield host
    elif started.operands[:1] in (("install",), ("upgrade",), ("template",)):
        for word in words:
            if word.startswith("oci://"):
                yield word[6:].partition("/")[0]
        repository = started.value("--repo")
        if "://" in repository:
            yield repository.partition("://")[2].partition("/")[0]


def _first_image(words: tuple[str, ...]) -> Iterator[str]:
    """The first word that has the form of an image with a host; what comes after is the container's own."""
    for n, word in enumerate(words):
        is_value = n > 0 and words[n - 1][:1] == "-" and "=" not in words[n - 1] and words[n - 1] not in _FLAGS
        if word[:1] != "-" and not is_value and word not in ("run", "create", "container"):
            host = _host(word)
            if host:
                yield host
            return


_FLAGS = names("-i -t -it -ti -d -dit -itd -id -di -P -q --rm --init --privileged --read-only --detach --interactive --tty --no-healthcheck --quiet")


def _host(image: str) -> str:
    """The registry that an image's name begins with: it has a dot or a port."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first.strip(".") or ":" in first) and first[:1] != "." else ""
