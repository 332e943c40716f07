# Builds the Debian package and installs it, so that the image contains what `make package-test` tests.
#
#   docker build --tag darkroom .
#
# `make image` builds the last stage without a container engine: scripts/make-image.py reads it.
FROM swift:6.3-bookworm AS build
WORKDIR /darkroom
COPY . .
# Dates the files of the package; git's history is not part of the context.
ARG SOURCE_DATE_EPOCH
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends make && make package

FROM debian:13-slim
LABEL org.opencontainers.image.title="Darkroom" \
      org.opencontainers.image.description="HTTP image service with sandboxed decoders and a disk cache" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/debian:13-slim"
# The user has a fixed number, which orchestrators check against root and volumes belong to.
RUN groupadd --gid 10001 darkroom \
    && useradd --uid 10001 --gid darkroom --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin darkroom
# A layer that versions of Darkroom share. The fonts have the scripts that docs/installing.md names, in packages of one script
# each: fonts-noto-core and fonts-noto-cjk, which also have them, take 134 MB instead of 23, and change the look of Latin.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libvips42t64 \
        fonts-dejavu-core fonts-noto-color-emoji fonts-wqy-microhei fonts-droid-fallback \
        fonts-lohit-deva fonts-lohit-beng-bengali fonts-lohit-guru fonts-lohit-gujr fonts-lohit-orya fonts-lohit-taml \
        fonts-lohit-telu fonts-lohit-knda fonts-lohit-mlym fonts-lklug-sinhala fonts-tlwg-loma-otf fonts-lao \
        fonts-sil-padauk fonts-khmeros fonts-ddc-uchen fonts-sil-abyssinica \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
# hadolint ignore=DL3008
RUN --mount=type=bind,from=build,source=/darkroom/.build/dist,target=/packages \
    apt-get update \
    && apt-get install --yes --no-install-recommends /packages/darkroom_*.deb \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
# Reachable from outside of the container, and therefore started only with signing keys, allow-hosts or open-proxy.
ENV DARKROOM_HOST=0.0.0.0
USER 10001:10001
VOLUME /var/cache/darkroom
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["darkroom", "health", "--config", "/etc/darkroom/config.yaml"]
CMD ["darkroom", "serve", "--config", "/etc/darkroom/config.yaml"]
