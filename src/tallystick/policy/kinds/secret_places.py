"""Folders and files that hold secrets by where they lie: below a home folder, and in the system.

Owns those lists (specs/gensee.md 5.2, and what it says is missing there). Must not know names that mean a secret wherever
they lie: `secret_names` does. Paths are plain, see `homes`.
"""

from __future__ import annotations

import re


def _places(*lists: str, below: str = "") -> tuple[str, ...]:
    """Places in lists, parted by commas; each ends with `/`, so that no name counts for another that begins like it."""
    named = (place.strip() for text in lists for place in text.replace("\n", ",").split(","))
    return tuple(f"{below}{place}/" for place in named if place)


_KEYS = """
.ssh, .gnupg, .aws, .azure, .kube, .oci, .bluemix, .ibmcloud, .aliyun, .tencentcloud, .password-store, .age, .pki
.putty, .vnc, .lastpass, .op, .step, .minikube/profiles, .docker/config.json, .docker/contexts, .docker/trust
.rhosts, .xauthority, .iceauthority, .local/share/keyrings, .local/share/kwalletd, .kde/share/apps/kwallet
.gnome2/keyrings, .local/share/pass, .config/keepassxc, .config/gcloud, .config/gh, .config/hub, .config/glab-cli
.config/tea, .config/sops, .config/age, .config/op, .config/1password, .config/bitwarden, .config/bitwarden cli
.config/goa-1.0
"""
_SERVICES = """
.config/rclone, .rclone.conf, .config/doctl, .config/hcloud, .config/linode-cli, .config/scw, .config/heroku
.config/fly, .fly/config.yml, .config/argocd, .argocd, .config/containers/auth.json, .config/helm/registry
.config/openstack, .config/stripe, .config/netlify, .config/configstore, .config/vercel, .local/share/com.vercel.cli
.netlify/config.json, .vercel/auth.json, .wrangler, .config/.wrangler, .supabase, .config/supabase, .railway, .config/railway
.config/ngrok, .ngrok2, .cloudflared, .config/pulumi, .pulumi/credentials.json, .vault-token
.terraform.d/credentials.tfrc.json, .terraformrc, .databrickscfg, .snowsql, .snowflake, .dbt/profiles.yml, .kaggle
.s3cfg, .boto, .passwd-s3fs, .smbcredentials, .config/filezilla, .config/remmina, .local/share/remmina, .netrc
_netrc, .authinfo, .authinfo.gpg, .git-credentials, .config/git/credentials, .pgpass, .my.cnf, .mylogin.cnf
.dbeaver4, .local/share/dbeaverdata, .fetchmailrc, .msmtprc, .config/msmtp, .mbsyncrc, .offlineimaprc, .getmail
.muttrc, .mutt
"""
_PACKAGES = """
.cargo/credentials, .cargo/credentials.toml, .gem/credentials, .bundle/config, .m2/settings.xml
.m2/settings-security.xml, .gradle/gradle.properties, .ivy2/.credentials, .sbt/.credentials, .sbt/credentials
.nuget/nuget.config, .nuget/nuget/nuget.config, .config/nuget
.composer/auth.json, .config/composer/auth.json, .config/pypoetry/auth.toml
.local/share/uv/credentials, .hex/auth.keys, .npmrc, .yarnrc.yml, .pypirc
"""
_AGENTS = """
.codex/auth.json, .claude/.credentials.json, .gemini/oauth_creds.json, .gemini/google_accounts.json
.qwen/oauth_creds.json, .cursor/auth.json, .local/share/opencode/auth.json, .config/goose/secrets.yaml
.cline/data/secrets.json, .pi/agent/auth.json, .local/share/amp/secrets.json, .factory/auth.json, .huggingface
.cache/huggingface/token, .cache/huggingface/stored_tokens, .config/openai, .openai, .config/anthropic, .anthropic
.config/io.datasette.llm/keys.json, .config/github-copilot, .config/code/user/globalstorage/state.vscdb
.config/cursor/user/globalstorage/state.vscdb
"""
_HISTORIES = """
.history, .histfile, .zhistory, .bash_sessions, .zsh_sessions, .local/share/fish, .config/fish/fish_history
.viminfo, .dbshell, .local/share/powershell/psreadline, .local/share/atuin
"""
_BROWSERS = """
.mozilla, .thunderbird, .librewolf, .config/google-chrome, .config/google-chrome-beta, .config/chromium
.config/bravesoftware, .config/microsoft-edge, .config/opera, .config/vivaldi, .config/signal, .config/slack
.config/discord, .config/element, .local/share/telegramdesktop, snap/firefox, snap/chromium, snap/brave
.var/app/org.mozilla.firefox, .var/app/com.google.chrome, .var/app/org.chromium.chromium, .var/app/com.brave.browser
.bitcoin, .ethereum, .electrum, .monero, .exodus, .config/exodus, .config/solana, .foundry/keystores
"""
_ON_MACOS = """
keychains, cookies, mail, messages, safari, containers/com.apple.safari, group containers/2bua8c4s2c.com.1password
preferences/netlify, application support/google/chrome, application support/chromium, application support/firefox
application support/bravesoftware, application support/microsoft edge, application support/vivaldi
application support/arc, application support/com.operasoftware.opera, application support/slack
application support/discord, application support/signal, application support/telegram desktop
application support/1password, application support/bitwarden, application support/gcloud
application support/github copilot, application support/code/user/globalstorage/state.vscdb
application support/cursor/user/globalstorage/state.vscdb, application support/sops, application support/rclone
application support/doctl, application support/addressbook, application support/com.vercel.cli
application support/ngrok, application support/filezilla, application support/electrum, application support/bitcoin
application support/exodus
"""
_ON_WINDOWS = """
local/google/chrome/user data, local/chromium/user data, local/microsoft/edge/user data, local/bravesoftware
local/vivaldi, roaming/mozilla/firefox, roaming/opera software, roaming/thunderbird, roaming/microsoft/credentials
local/microsoft/credentials, roaming/microsoft/protect, local/microsoft/protect, roaming/microsoft/vault
local/microsoft/vault, roaming/microsoft/crypto, roaming/microsoft/windows/powershell/psreadline, roaming/gcloud
roaming/github cli, roaming/nuget/nuget.config, roaming/code/user/globalstorage/state.vscdb
roaming/cursor/user/globalstorage/state.vscdb, roaming/1password, local/1password, roaming/bitwarden
roaming/keepass, roaming/filezilla, roaming/rclone, roaming/terraform.d, roaming/slack, roaming/discord
roaming/signal, roaming/postgresql/pgpass.conf, roaming/composer/auth.json, roaming/pypoetry/auth.toml
roaming/electrum, roaming/bitcoin, roaming/exodus
"""
HOME_SECRETS = (
    *_places(_KEYS, _SERVICES, _PACKAGES, _AGENTS, _HISTORIES, _BROWSERS),
    *_places(_ON_MACOS, below="library/"),
    *_places(_ON_WINDOWS, below="appdata/"),
)
"""Below a home folder."""
_HOME_HINTS = _places(
    """
.ssh/config, .ssh/authorized_keys, .aws/config, .azure/config, .claude.json, .condarc, .continue, .config/pip
.pip/pip.conf, .yarnrc, .curlrc, .wgetrc, .pg_service.conf, .mongorc.js, .odbc.ini, .config/helm/repositories.yaml
.config/containers, .config/openvpn, .config/gptme, .config/mc/ini, .terraform.d/checkpoint_signature, .config/yarn
.subversion/auth, .cvspass
"""
)
"""May hold secrets, but are looked at for other reasons more often."""
_HOME_WORK = _places(
    """
.ssh/known_hosts, .ssh/known_hosts.old, .kube/cache, .kube/http-cache, .azure/bin, .azure/cliextensions
.aws/cli/cache/completion, .config/gcloud/virtenv, .config/gcloud/logs, .docker/cli-plugins, .wrangler/logs
.mozilla/native-messaging-hosts
"""
)
"""Lie in folders of secrets and are none."""
_SYSTEM = _places(
    """
/etc/shadow, /etc/shadow-, /etc/gshadow, /etc/gshadow-, /etc/master.passwd, /etc/spwd.db, /etc/sudoers
/etc/sudoers.d, /etc/security/opasswd, /etc/ssl/private, /etc/pki/tls/private, /etc/letsencrypt/archive
/etc/letsencrypt/live, /etc/letsencrypt/accounts, /etc/krb5.keytab, /etc/ipsec.secrets, /etc/ipsec.d/private
/etc/swanctl/private, /etc/ppp/chap-secrets, /etc/ppp/pap-secrets, /etc/wireguard, /etc/openvpn
/etc/networkmanager/system-connections, /etc/wpa_supplicant, /etc/kubernetes/admin.conf, /etc/kubernetes/pki
/etc/rancher/k3s/k3s.yaml, /etc/docker/key.json, /etc/mysql/debian.cnf, /etc/postfix/sasl_passwd
/etc/exim4/passwd.client, /var/lib/tailscale, /etc/salt/pki, /etc/gitlab/gitlab-secrets.json
/etc/gitlab-runner/config.toml, /etc/cloudflared, /etc/apt/auth.conf, /etc/apt/auth.conf.d, /etc/samba/smbpasswd
/var/lib/samba/private, /etc/ceph, /run/secrets, /var/run/secrets, /run/credentials, /var/lib/kubelet
/var/lib/docker/swarm, /var/lib/jenkins/secrets, /var/jenkins_home/secrets, /var/jenkins_home/credentials.xml
/var/lib/jenkins/credentials.xml, /var/lib/cloud/instance/user-data.txt, /var/db/dslocal, /library/keychains
/system/library/keychains, /var/db/systemkey, /dev/mem, /dev/kmem, /dev/port, /proc/kcore, /var/spool/mail
/var/mail, c:/windows/system32/config, c:/windows/ntds, c:/windows/repair, c:/windows/panther/unattend.xml
c:/programdata/microsoft/crypto, c:/programdata/ssh
"""
)
_SYSTEM_HINTS = _places(
    "/etc/passwd, /etc/passwd-, /etc/environment, /etc/netplan, /etc/vault.d, /etc/consul.d, /etc/grafana"
)
_SYSTEM_NAMES = re.compile(r"/etc/ssh/ssh_host_[^/]{1,40}_key|/proc/(?:[^/]{1,20}/)?(?:task/[^/]{1,20}/)?mem")
_ENVIRONMENT = re.compile(r"/proc/(?:[^/]{1,20}/)?(?:task/(?:[^/]{1,20}/)?)?environ")
HOLDERS = frozenset(
    (
        "/etc",
        "/var",
        "/var/lib",
        "/run",
        "/var/run",
        "/etc/ssl",
        "/etc/pki",
        "/etc/kubernetes",
        "/etc/letsencrypt",
        "c:/windows",
        "c:/programdata",
    )
)
"""Folders of the system with secrets below."""
HOME_HOLDERS = frozenset(
    (
        "", ".config", ".local", ".local/share", "library", "library/application support", "appdata", "appdata/local",
        "appdata/roaming", ".var", ".var/app", "snap", ".docker", ".codex", ".cargo", ".m2", ".gem", ".terraform.d",
    )
)  # fmt: skip
"""Folders below a home folder with secrets below; the first is the home folder itself."""


def at_home(rest: str) -> str | None:
    """What a path is, by its part below a home folder."""
    whole = f"{rest}/"
    if whole.startswith(_HOME_WORK):
        return "work"
    if whole.startswith(_HOME_HINTS):
        return "credential"
    return "secret" if whole.startswith(HOME_SECRETS) else None


def in_system(path: str) -> str | None:
    """What a path is that lies in no home folder."""
    whole = f"{path}/"
    if whole.startswith(_SYSTEM) or _SYSTEM_NAMES.fullmatch(path):
        return "secret"
    if _ENVIRONMENT.fullmatch(path):
        return "environment"
    return "credential" if whole.startswith(_SYSTEM_HINTS) else None
