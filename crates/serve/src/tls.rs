//! TLS: the certificates of a server, and the verification of webhooks' certificates.
//!
//! Keys and certificates are made at each start from the randomness of the operating system. They are no part of the simulation, whose history
//! does not depend on them.

use apiserver::UserInfo;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring::default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme,
};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

/// Names of the server, besides the address that it listens on.
const NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// Certificates of a server, of one authority that is made for it.
pub struct ServerTls {
    /// Certificate of the authority, as PEM.
    pub ca: String,
    /// Certificate of the administrator, as PEM.
    pub client_certificate: String,
    /// Key of the administrator, as PEM.
    pub client_key: String,
    /// Configuration of the server.
    pub config: Arc<ServerConfig>,
}

impl ServerTls {
    /// Creates the certificates of a server that listens on an address.
    ///
    /// # Errors
    /// The certificate or key that cannot be made.
    pub fn new(listen: IpAddr) -> Result<ServerTls, String> {
        ServerTls::generate(listen).map_err(|error| format!("certificates: {error}"))
    }

    fn generate(listen: IpAddr) -> Result<ServerTls, Box<dyn std::error::Error>> {
        let ca_key = KeyPair::generate()?;
        let mut ca = params("kubernetes", None, Vec::new())?;
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
        ];
        let ca_certificate = ca.self_signed(&ca_key)?;
        let authority = Issuer::new(ca, ca_key);
        let mut names: Vec<String> = NAMES.map(str::to_owned).into();
        let address = listen.to_string();
        if !listen.is_unspecified() && !names.contains(&address) {
            names.push(address);
        }
        let key = KeyPair::generate()?;
        let mut server = params("kube-apiserver", None, names)?;
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let server = server.signed_by(&key, &authority)?;
        let client_key = KeyPair::generate()?;
        let mut client = params("kubernetes-admin", Some("system:masters"), Vec::new())?;
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let client = client.signed_by(&client_key, &authority)?;
        let mut roots = RootCertStore::empty();
        roots.add(ca_certificate.der().clone())?;
        let provider = Arc::new(default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                .allow_unauthenticated()
                .build()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(
                vec![server.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(ServerTls {
            ca: ca_certificate.pem(),
            client_certificate: client.pem(),
            client_key: client_key.serialize_pem(),
            config: Arc::new(config),
        })
    }
}

fn params(
    name: &str,
    organization: Option<&str>,
    names: Vec<String>,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    let mut subject = DistinguishedName::new();
    if let Some(organization) = organization {
        subject.push(DnType::OrganizationName, organization);
    }
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    Ok(params)
}

/// Returns the user of a client's certificate: its name is the common name, its groups are the organizations.
/// Models `CommonNameUserConversion` of `apiserver/pkg/authentication/request/x509`.
pub fn user(certificate: &CertificateDer<'_>) -> Option<UserInfo> {
    const COMMON_NAME: [u64; 4] = [2, 5, 4, 3];
    const ORGANIZATION: [u64; 4] = [2, 5, 4, 10];
    let parsed = webpki::EndEntityCert::try_from(certificate).ok()?;
    let (mut name, mut groups) = (None, Vec::new());
    // Content of the subject's sequence: sets of attributes.
    let read = yasna::parse_ber(&wrapped(parsed.subject()), |reader| {
        reader.read_sequence_of(|set| {
            set.read_set_of(|attribute| {
                attribute.read_sequence(|fields| {
                    let kind = fields.next().read_oid()?;
                    let value = fields.next().read_tagged_der()?;
                    let text = String::from_utf8_lossy(value.value()).into_owned();
                    match kind.components().as_slice() {
                        kind if *kind == COMMON_NAME => name = Some(text),
                        kind if *kind == ORGANIZATION => groups.push(text.as_str().into()),
                        _ => {}
                    }
                    Ok(())
                })
            })
        })
    });
    read.ok()?;
    let name = name.filter(|name| !name.is_empty())?;
    Some(UserInfo::new(&name, groups))
}

/// Returns content as a DER sequence.
fn wrapped(content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut bytes = vec![0x30];
    if length < 128 {
        bytes.push(length as u8);
    } else {
        bytes.push(0x82);
        bytes.extend_from_slice(&(length as u16).to_be_bytes());
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Returns the configuration of a client that trusts the certificates of a bundle alone.
///
/// # Errors
/// The bundle has no certificate.
pub fn client_config(bundle: &[u8]) -> Result<ClientConfig, String> {
    let provider = Arc::new(default_provider());
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(bundle)
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    if roots.is_empty() {
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    }
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| error.to_string())?;
    let verifier = Arc::new(BundleVerifier {
        inner,
        certificates,
        provider,
    });
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

/// Verifier that also takes, as Go does, a server's certificate that is itself one of the bundle: one that was signed by itself.
#[derive(Debug)]
struct BundleVerifier {
    inner: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let inner = &self.inner;
        let result =
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let is_chain_error = matches!(
            result,
            Err(Error::InvalidCertificate(
                CertificateError::Other(_) | CertificateError::UnknownIssuer
            ))
        );
        if !is_chain_error || !self.certificates.contains(end_entity) {
            return result;
        }
        let parsed = webpki::EndEntityCert::try_from(end_entity)
            .map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))?;
        parsed
            .verify_is_valid_for_subject_name(server_name)
            .map_err(|_| Error::InvalidCertificate(CertificateError::NotValidForName))?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Returns an error of a handshake in the words of Go.
pub fn go_error(error: &io::Error, host: &str) -> String {
    let inner = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<Error>());
    let verification =
        |problem: &str| format!("tls: failed to verify certificate: x509: {problem}");
    match inner {
        Some(Error::InvalidCertificate(problem)) => match problem {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                verification("certificate signed by unknown authority")
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                verification("certificate has expired or is not yet valid")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                verification(&format!("certificate is not valid for {host}"))
            }
            other => verification(&format!("{other:?}")),
        },
        Some(Error::InvalidMessage(_)) => {
            "http: server gave HTTP response to HTTPS client".to_owned()
        }
        Some(other) => format!("tls: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_administrator_is_named_by_its_certificate() {
        let tls = ServerTls::new(IpAddr::from([127, 0, 0, 1])).unwrap();
        let certificate =
            CertificateDer::from_pem_slice(tls.client_certificate.as_bytes()).unwrap();
        let user = user(&certificate).unwrap();
        assert_eq!(user.name.as_str(), "kubernetes-admin");
        assert!(user.is_privileged());
        assert_eq!(user.groups.len(), 2);
    }
}
