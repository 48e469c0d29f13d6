# dwell alone: it needs no library, no shell and nothing else of an image. docs/kubernetes.md says how to run it.
#   docker build -t dwell .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=linux GOARCH=$TARGETARCH go build -trimpath -o /out/dwell ./cmd/dwell

FROM scratch
COPY --from=build /out/dwell /bin/dwell
ENV PATH=/bin TMPDIR=/recordings
WORKDIR /recordings
ENTRYPOINT ["/bin/dwell"]
CMD ["doctor"]
