# Driftscope with Chromium, Firefox and WebKitGTK, ready for a pipeline:
#
#   docker build -t driftscope .
#   docker run --rm --shm-size=1g --user "$(id -u):$(id -g)" -v "$PWD:/work" driftscope \
#     compare model.onnx --right chrome/fast
#
# --shm-size: browsers keep pictures and wasm memory in /dev/shm, of which Docker gives 64 MB.
# Not as root (--user gives what it writes to you), and Chromium keeps its sandbox where the container may have user
# namespaces, which Docker's own seccomp profile forbids: `driftscope doctor` says whether. Without them the
# container is the only wall around a model that a browser runs.
#
# The base is named by its digest (debian:trixie-20261005-slim), so that nothing else can take its place.
ARG BASE=debian:13-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f
FROM ${BASE} AS build
WORKDIR /src
# What is installed depends on these files alone, so a code change downloads nothing again.
COPY tools/setup tools/setup
COPY tools/setup.d tools/setup.d
COPY package.json package-lock.json .npmrc ./
RUN tools/setup --no-browsers
COPY . .
RUN tools/setup --no-browsers \
 && . "$HOME/.cache/driftscope/env.sh" \
 && cmake --preset native && ninja -C build/native driftscope \
 && cmake --preset web && ninja -C build/web site compressed \
 && tools/image/stage /stage

FROM ${BASE}
COPY --from=build /stage /opt/driftscope
# Node runs the npm package (npm install /opt/driftscope/npm) beside a team's own tests.
RUN apt-get update \
 && xargs apt-get install -y --no-install-recommends </opt/driftscope/packages \
 && apt-get install -y --no-install-recommends ca-certificates git nodejs npm \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && ln -s /opt/driftscope/bin/driftscope /usr/local/bin/driftscope \
 && useradd --uid 1000 --create-home driftscope \
 && chmod 1777 /home/driftscope \
 && install -d -o driftscope /work
# A home for any user that --user names; what a browser keeps is in folders of its own, which go with it.
ENV HOME=/home/driftscope DRIFTSCOPE_SANDBOX=if-possible
USER driftscope
RUN driftscope doctor
WORKDIR /work
ENTRYPOINT ["driftscope"]
CMD ["--help"]
