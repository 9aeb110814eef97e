# packages.sh - the Debian packages that Klamm needs, and how they get installed. To be sourced by bash.
#
#   . deploy/packages.sh; packages_need build run
#
# Asks dpkg first, which takes milliseconds; apt-get runs only for what is missing. A name that ends in "?" is left out
# where this Debian does not have it. Works on Debian 12 and 13, as root or through sudo.

declare -A PACKAGES=(
  [build]="gcc libc6-dev meson ninja-build pkgconf python3
           libzookeeper-mt-dev libssl-dev libjansson-dev libisal-dev zlib1g-dev libzstd-dev liblz4-dev libsnappy-dev
           librdkafka-dev uthash-dev libpcre2-dev"
  [run]="zookeeper default-jre-headless openssl python3"
  [unit]="git check"
  [tidy]="git clang-format-14?"
  [fuzz]="clang libclang-rt-dev"
  [system]="python3-pytest kcat iproute2 iptables"
  [clients]="python3-pytest python3-venv kcat ca-certificates maven default-jdk-headless"
  [oracle]="ca-certificates maven default-jdk-headless"
  [bench]=""
  [rdkafka]="dpkg-dev"
  [sim]=""
)

# The packages among $@ that are not installed, one a line.
packages_missing() {
  local have name
  # dpkg-query fails where a name is unknown to it; that is an answer, not an error.
  have=$({ dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${@%\?}" 2>/dev/null || true; } | sed -n 's/^installed //p')
  for name in "$@"; do
    grep -qxF -- "${name%\?}" <<<"$have" || echo "$name"
  done
}

# Of $@, those that apt can install; "?" names that it does not know are dropped.
packages_known() {
  local name
  for name in "$@"; do
    if [[ $name != *\? ]]; then
      echo "$name"
    elif apt-cache show "${name%\?}" >/dev/null 2>&1; then
      echo "${name%\?}"
    fi
  done
}

packages_apt() {
  local as=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "packages: not root, and there is no sudo; install as root: ${packages_wanted[*]}" >&2
      return 1
    }
    as=(sudo)
  fi
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@"
}

# Installs what is missing of the named lists; silent when nothing is.
packages_need() {
  local list names=() missing packages_wanted
  command -v dpkg-query >/dev/null || {
    echo "packages: this is no Debian; install by hand what deploy/packages.sh lists for: $*" >&2
    return 1
  }
  for list in "$@"; do
    read -r -d '' -a missing <<<"${PACKAGES[$list]-}" || true
    names+=("${missing[@]}")
  done
  [ "${#names[@]}" -gt 0 ] || return 0
  mapfile -t missing < <(packages_missing "${names[@]}" | sort -u)
  [ "${#missing[@]}" -gt 0 ] || return 0
  mapfile -t packages_wanted < <(packages_known "${missing[@]}")
  if [ "${#packages_wanted[@]}" = 0 ]; then
    return 0
  fi
  echo "packages: installing ${packages_wanted[*]}" >&2
  packages_apt install -y --no-install-recommends "${packages_wanted[@]}" >/dev/null 2>&1 && return 0
  # The package lists may be missing or old; with fresh ones, optional names may be known too.
  packages_apt update >/dev/null || return 1
  mapfile -t packages_wanted < <(packages_known "${missing[@]}")
  packages_apt install -y --no-install-recommends "${packages_wanted[@]}" >/dev/null || {
    echo "packages: apt-get could not install: ${packages_wanted[*]}" >&2
    return 1
  }
}
