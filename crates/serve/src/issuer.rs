//! Tokens of ServiceAccounts: signed JWTs, whose claims name the account and what they are bound to.
//!
//! The key is made at each start from the randomness of the operating system, and is no part of the simulation. Times are those of the
//! cluster's virtual clock.
//! Models `pkg/serviceaccount/{claims,jwt,legacy,openidmetadata}.go`.

use apiserver::{Store, UserInfo};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use k8s_model::{Kind, Object, ObjectRef, Timestamp};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Issuer of tokens, which is their audience too unless others are requested.
pub const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// Issuer of the tokens in Secrets.
const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";
/// Start of the names of their claims.
const LEGACY_CLAIM: &str = "kubernetes.io/serviceaccount";
/// Time for which a token outlives the deletion of what it is bound to, in seconds.
const DELETION_LEEWAY: i64 = 60;
/// Lifetime that kubelets request, which is extended for clients that do not reload their tokens.
const EXTENDED: i64 = 3_607;
/// Lifetime of an extended token, in seconds.
const EXTENSION: i64 = 365 * 24 * 60 * 60;
const BOUND: &str = "kubernetes.io";

/// Key that signs tokens.
#[derive(Clone)]
pub struct TokenIssuer {
    key: Arc<EcdsaKeyPair>,
    key_id: String,
}

/// Token to be issued.
pub struct TokenClaims<'a> {
    pub account: &'a Object,
    pub audiences: Vec<String>,
    /// Object that the token is bound to.
    pub bound: Option<&'a Object>,
    pub now: Timestamp,
    pub seconds: i64,
}

/// Token that was found valid.
pub struct ValidToken {
    pub user: UserInfo,
    pub audiences: Vec<String>,
}

impl TokenIssuer {
    /// Creates an issuer with a new key.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn new() -> Result<TokenIssuer, String> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let failed = |_| "a key for tokens could not be made".to_owned();
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random)
            .map_err(|_| "a key for tokens could not be read".to_owned())?;
        let key_id = URL_SAFE_NO_PAD.encode(Sha256::digest(key.public_key().as_ref()));
        Ok(TokenIssuer {
            key: Arc::new(key),
            key_id,
        })
    }

    /// Issues the token of a `TokenRequest`.
    pub fn issue(&self, store: &Store, token: &TokenClaims<'_>) -> Result<String, String> {
        let meta = &token.account.meta;
        let reference = |object: &Object| json!({ "name": *object.meta.name, "uid": object.meta.uid.to_string() });
        let mut bound =
            json!({ "namespace": *meta.namespace, "serviceaccount": reference(token.account) });
        if let Some(object) = token.bound {
            let field = object.kind.name().to_lowercase();
            bound[field] = reference(object);
            let node = object.pod().map(|pod| pod.node_name.clone());
            if let Some(node) = node.filter(|node| !node.is_empty()) {
                bound["node"] = json!({ "name": *node });
                let found = store.get(&ObjectRef::new(Kind::Node, "", &node));
                if let Some(found) = found {
                    bound["node"]["uid"] = found.meta.uid.to_string().into();
                }
            }
        }
        let now = token.now.seconds();
        let mut seconds = token.seconds;
        let is_of_pod = token.bound.is_some_and(|object| object.kind == Kind::Pod);
        if seconds == EXTENDED && is_of_pod && token.audiences == [ISSUER] {
            bound["warnafter"] = (now + seconds).into();
            seconds = EXTENSION;
        }
        let claims = json!({
            "aud": token.audiences, "exp": now.saturating_add(seconds), "iat": now, "iss": ISSUER, "jti": random_id()?,
            BOUND: bound, "nbf": now, "sub": subject(&meta.namespace, &meta.name),
        });
        self.sign(&claims)
    }

    /// Issues the token that a Secret holds for an account.
    pub fn issue_legacy(&self, account: &Object, secret: &str) -> Result<String, String> {
        let meta = &account.meta;
        let claim = |name: &str| format!("{LEGACY_CLAIM}/{name}");
        let mut claims =
            json!({ "iss": LEGACY_ISSUER, "sub": subject(&meta.namespace, &meta.name) });
        claims[claim("namespace")] = meta.namespace.as_str().into();
        claims[claim("secret.name")] = secret.into();
        claims[claim("service-account.name")] = meta.name.as_str().into();
        claims[claim("service-account.uid")] = meta.uid.to_string().into();
        self.sign(&claims)
    }

    fn sign(&self, claims: &Value) -> Result<String, String> {
        let header = json!({ "alg": "ES256", "kid": self.key_id });
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.key.sign(&SystemRandom::new(), text.as_bytes());
        let signature = signature.map_err(|_| "failed to sign the token".to_owned())?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Returns the claims of a token that this issuer has signed; `None` for any other text.
    fn claims(&self, token: &str) -> Option<Value> {
        let (text, signature) = token.rsplit_once('.')?;
        let (header, payload) = text.split_once('.')?;
        let decode = |part: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
            serde_json::from_slice::<Value>(&bytes).ok()
        };
        if decode(header)?["alg"] != "ES256" {
            return None;
        }
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key());
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        key.verify(text.as_bytes(), &signature).ok()?;
        decode(payload)
    }

    /// Validates a token for audiences, of which it must have one; `None` for a text that is no token of this issuer.
    ///
    /// # Errors
    /// The reason why the token is no longer valid, or is not for the audiences.
    pub fn validate(
        &self,
        store: &Store,
        now: Timestamp,
        token: &str,
        audiences: &[String],
    ) -> Option<Result<ValidToken, String>> {
        let claims = self.claims(token)?;
        Some(match claims["iss"].as_str() {
            Some(ISSUER) => validate_bound(store, now.seconds(), &claims, audiences),
            Some(LEGACY_ISSUER) => validate_legacy(store, token, &claims, audiences),
            _ => return None,
        })
    }

    /// Returns the discovery document of OpenID Connect.
    pub fn configuration(&self, address: &str) -> Value {
        json!({
            "issuer": ISSUER, "jwks_uri": format!("https://{address}/openid/v1/jwks"),
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        })
    }

    /// Returns the public keys as a JSON Web Key Set.
    pub fn keys(&self) -> Value {
        // An uncompressed point: a byte, and both coordinates.
        let point = self.key.public_key().as_ref();
        let (x, y) = point.get(1..).unwrap_or_default().split_at(point.len() / 2);
        let encode = |bytes| URL_SAFE_NO_PAD.encode(bytes);
        json!({ "keys": [{ "use": "sig", "kty": "EC", "kid": self.key_id, "crv": "P-256", "alg": "ES256", "x": encode(x), "y": encode(y) }] })
    }
}

fn subject(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

fn random_id() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| "the system has no randomness".to_owned())?;
    Ok(super::webhooks::uid(bytes))
}

fn validate_bound(
    store: &Store,
    now: i64,
    claims: &Value,
    audiences: &[String],
) -> Result<ValidToken, String> {
    let own = claims["aud"].as_array().into_iter().flatten();
    let own: Vec<String> = own.filter_map(Value::as_str).map(str::to_owned).collect();
    let common = common_audiences(&own, audiences)?;
    let seconds = |field: &str| claims[field].as_i64().unwrap_or(0);
    if now >= seconds("exp") {
        return Err("service account token has expired".to_owned());
    }
    if now < seconds("nbf") {
        return Err("service account token is not valid yet".to_owned());
    }
    let bound = &claims[BOUND];
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let namespace = text(&bound["namespace"]);
    let (name, uid) = (
        text(&bound["serviceaccount"]["name"]),
        text(&bound["serviceaccount"]["uid"]),
    );
    let account = account(store, &namespace, &name)?;
    if account.meta.uid.to_string() != uid {
        let found = account.meta.uid;
        return Err(format!(
            "service account UID ({found}) does not match claim ({uid})"
        ));
    }
    let mut user = account_user(account);
    let extra = |name: &str| format!("authentication.kubernetes.io/{name}");
    for (kind, field, what) in [
        (Kind::Secret, "secret", "secret UID"),
        (Kind::Pod, "pod", "pod UID"),
        (Kind::Node, "node", "node UID"),
    ] {
        let reference = &bound[field];
        if !reference.is_object() {
            continue;
        }
        let (name, uid) = (text(&reference["name"]), text(&reference["uid"]));
        if kind != Kind::Secret {
            user.extra.insert(
                extra(&format!("{field}-name")).into(),
                vec![name.as_str().into()],
            );
            if !uid.is_empty() {
                user.extra.insert(
                    extra(&format!("{field}-uid")).into(),
                    vec![uid.as_str().into()],
                );
            }
        }
        if kind == Kind::Node && bound["pod"].is_object() {
            // It tells where the Pod is; the token is bound to the Pod.
            continue;
        }
        let home = if kind == Kind::Node {
            ""
        } else {
            namespace.as_str()
        };
        let found = store.get(&ObjectRef::new(kind, home, &name));
        let is_gone = |object: &Object| {
            let deleted = object.meta.deletion_timestamp;
            deleted.is_some_and(|time| now > time.seconds() + DELETION_LEEWAY)
        };
        let Some(found) = found.filter(|found| !is_gone(found)) else {
            return Err("service account token has been invalidated".to_owned());
        };
        if found.meta.uid.to_string() != uid {
            let found = found.meta.uid;
            return Err(format!(
                "{what} ({found}) does not match service account {field} ref claim ({uid})"
            ));
        }
    }
    let credential = format!("JTI={}", text(&claims["jti"]));
    user.extra.insert(
        extra("credential-id").into(),
        vec![credential.as_str().into()],
    );
    Ok(ValidToken {
        user,
        audiences: common,
    })
}

fn validate_legacy(
    store: &Store,
    token: &str,
    claims: &Value,
    audiences: &[String],
) -> Result<ValidToken, String> {
    let common = common_audiences(&[ISSUER.to_owned()], audiences)?;
    let claim = |name: &str| {
        let value = claims[format!("{LEGACY_CLAIM}/{name}")].as_str();
        value.unwrap_or("").to_owned()
    };
    let (namespace, secret) = (claim("namespace"), claim("secret.name"));
    let account = account(store, &namespace, &claim("service-account.name"))?;
    let invalidated = || "service account token has been invalidated".to_owned();
    let found = store.get(&ObjectRef::new(Kind::Secret, &namespace, &secret));
    let data = found.map(|found| found.to_value()["data"]["token"].take());
    let data = data.as_ref().and_then(Value::as_str).unwrap_or("");
    let kept = base64::engine::general_purpose::STANDARD.decode(data);
    if kept.is_ok_and(|kept| kept != token.as_bytes()) {
        return Err("service account token does not match server's copy".to_owned());
    }
    if found.is_none() || account.meta.uid.to_string() != claim("service-account.uid") {
        return Err(invalidated());
    }
    Ok(ValidToken {
        user: account_user(account),
        audiences: common,
    })
}

fn account<'s>(store: &'s Store, namespace: &str, name: &str) -> Result<&'s Object, String> {
    let key = ObjectRef::new(Kind::ServiceAccount, namespace, name);
    let found = store.get(&key).map(|account| &**account);
    found.ok_or_else(|| format!("serviceaccounts {name:?} not found"))
}

/// Returns the user that a ServiceAccount is.
fn account_user(account: &Object) -> UserInfo {
    let meta = &account.meta;
    UserInfo {
        uid: meta.uid.to_string().as_str().into(),
        ..UserInfo::new(&subject(&meta.namespace, &meta.name), Vec::new())
    }
}

/// Returns the audiences that a token has and a request names.
fn common_audiences(own: &[String], wanted: &[String]) -> Result<Vec<String>, String> {
    let common: Vec<String> = own
        .iter()
        .filter(|audience| wanted.contains(audience))
        .cloned()
        .collect();
    match common.is_empty() {
        false => Ok(common),
        true => Err(format!(
            "token audiences {} is invalid for the target audiences {}",
            quoted(own),
            quoted(wanted)
        )),
    }
}

/// Formats a list as Go's `%q` does.
fn quoted(list: &[String]) -> String {
    let list: Vec<String> = list.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", list.join(" "))
}
